// The page of `ode-mlcp compare`: unpacks the data, fills the table, draws the
// curves and plays the runs. THREE and uPlot stand before it in the page.
'use strict';

const $ = id => document.getElementById(id);
const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#d55e00',
                 '#56b4e9', '#8c6d00', '#7f7f7f'];
const colourOf = index => COLOURS[index % COLOURS.length];

function element(name, text, attributes) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const key in attributes || {}) made.setAttribute(key, attributes[key]);
  return made;
}

/* ---- data ---- */

function readData() {
  const data = JSON.parse($('data').textContent);
  data.bytes = Uint8Array.from(atob($('arrays').textContent.trim()),
                               letter => letter.charCodeAt(0));
  return data;
}

// [bodies][x, y, z and the turn w, x, y, z][frames]; [contacts][place, force]
function readRun(data, run) {
  const floats = (at, count) =>
    new Float32Array(data.bytes.buffer, data.bytes.byteOffset + at, count);
  run.poses = floats(run.poses, 7 * data.frames * run.bodies.length);
  run.index = new Map(run.bodies.map((body, i) => [body[0], i]));
  run.starts = [0];
  for (const count of run.counts)
    run.starts.push(run.starts[run.starts.length - 1] + count);
  run.contacts = floats(run.contacts, 6 * run.starts[run.starts.length - 1]);
}

/* ---- head and table ---- */

function shown(value) {
  if (value === null || value === undefined) return '–';
  if (Number.isInteger(value)) return String(value);
  const size = Math.abs(value);
  return size < 1e-3 || size >= 1e5 ? value.toExponential(1)
                                    : String(Number(value.toPrecision(3)));
}

function fillTable(report, rows) {
  const table = $('figures'), head = table.createTHead().insertRow();
  table.append(element('caption', 'All steppers', {class: 'sr'}));
  head.append(element('th', 'figure', {scope: 'col'}),
              element('th', 'unit', {scope: 'col'}));
  report.steppers.forEach((stepper, i) => {
    const cell = element('th', undefined, {scope: 'col'});
    const key = element('span', '', {class: 'key'});
    key.style.background = colourOf(i);
    cell.append(key, stepper.name);
    head.append(cell);
  });
  const body = table.createTBody();
  for (const [key, words, unit, less, rare] of rows) {
    const values = report.steppers.map(s => s[key]);
    const known = values.filter(v => v !== null && v !== undefined);
    if (known.length === 0) continue;
    if (rare && known.every(v => v === 0)) continue;
    // rounding is no merit: what is below 1e-9 is as good as nothing
    const floored = v => Math.max(v, 1e-9);
    const best = Math.min(...known.map(floored));
    const tells = less && known.some(v => floored(v) > best * 1.01);
    const row = body.insertRow();
    row.append(element('th', words, {scope: 'row'}),
               element('td', unit, {class: 'unit'}));
    values.forEach((value, i) => {
      const text = key === 'order' && value < 0 ? 'none' : shown(value);
      const cell = element('td', text, {'data-name': report.steppers[i].name});
      if (tells && value !== null && floored(value) <= best * 1.01)
        cell.className = 'best';
      row.append(cell);
    });
  }
}

function fillHead(report) {
  const name = [report.program.split('/').pop(), ...report.arguments].join(' ');
  document.title = 'Steppers on ' + name;
  $('title').textContent = name;
  $('title').title = [report.program, ...report.arguments].join(' ');
  $('verdict').textContent = report.headline;
  for (const line of report.verdict) $('lines').append(element('li', line.text));
  for (const note of report.notes) $('notes').append(element('p', note));
}

/* ---- curves ---- */

const FLOOR = 1e-10; // below it a figure is rounding

// The values of all runs at all their times.
function joinRuns(runs, key, logarithmic) {
  const tables = runs.map(run => {
    return [run.curves.time, run.curves[key].map(v =>
      logarithmic && v !== null ? Math.max(Math.abs(v), FLOOR) : v)];
  });
  return uPlot.join(tables, tables.map(() => [0, ...[1]]));
}

function drawCurves(data, goTo) {
  const runs = data.runs.filter(run => !run.reference && run.curves.time.length > 1);
  const place = $('curves');
  place.replaceChildren();
  const style = getComputedStyle(document.documentElement);
  const ink = style.getPropertyValue('--ink'), line = style.getPropertyValue('--line');
  for (const [key, title, label, logarithmic] of data.columns) {
    const values = runs.flatMap(run => run.curves[key]);
    // an empty panel, or rounding drawn as if it were signal, tells nothing
    if (!values.some(v => Math.abs(v) > FLOOR)) continue;
    const box = element('div', undefined, {class: 'curve'});
    box.append(element('h3', title));
    place.append(box);
    const axis = {stroke: ink, grid: {stroke: line, width: 1}, ticks: {stroke: line}};
    // of a logarithmic axis the powers of ten alone
    const powers = (u, ticks) => ticks.map(t =>
      Math.abs(Math.log10(t) - Math.round(Math.log10(t))) < 1e-6 ? t : null);
    const side = logarithmic ? {...axis, grid: {...axis.grid, filter: powers},
                                ticks: {...axis.ticks, filter: powers}} : axis;
    const plot = new uPlot({
      width: box.clientWidth - 20, height: 260,
      scales: {x: {time: false}, y: logarithmic ? {distr: 3} : {}},
      axes: [{...axis, label: 'time, s'},
             {...side, label, size: 70, values: (u, ticks) => ticks.map(t =>
               t === null ? '' : Math.abs(t) >= 1e4 || (t !== 0 && Math.abs(t) < 1e-2)
                 ? (+t.toPrecision(6)).toExponential() : String(+t.toPrecision(6)))}],
      series: [{label: 'time, s'}, ...runs.map(run => ({
        label: run.label, width: 1.5, spanGaps: true,
        stroke: colourOf(data.runs.indexOf(run)),
        value: (u, v) => shown(v)}))],
      hooks: {ready: [u => u.over.addEventListener('click', () => {
        if (u.cursor.left >= 0) goTo(u.posToVal(u.cursor.left, 'x'));
      })]}
    }, joinRuns(runs, key, logarithmic), box);
    const last = runs.map(run => `${run.label}: most ` +
      shown(Math.max(...run.curves[key].map(Math.abs)))).join('; ');
    plot.root.setAttribute('role', 'img');
    plot.root.setAttribute('aria-label', `${title}, ${label}, over time. ${last}.`);
    new ResizeObserver(() => plot.setSize({width: box.clientWidth - 20, height: 260}))
      .observe(box);
  }
}

/* ---- the replay ---- */

const FRONT = 0; // three's FrontSide
const SPHERE = 1, BOX = 2, CAPSULE = 3, CYLINDER = 4, PLANE = 5, MESH = 6;

class Replay {
  constructor(data) {
    this.data = data;
    this.runs = data.runs;
    this.frame = 0;
    this.colouring = 'body';
    // forces of many contacts hide what they act on: then they are asked for
    const most = Math.max(0, ...this.runs.map(run => Math.max(0, ...run.counts)));
    this.showsContacts = most <= 40;
    this.forceScale = 1;
    this.measure();
    this.renderer = new THREE.WebGLRenderer({antialias: true, alpha: true});
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setScissorTest(true);
    $('stage').prepend(this.renderer.domElement);
    this.camera = new THREE.PerspectiveCamera(40, 1, 0.001, 10000);
    this.up = this.guessUp();
    this.controls = new THREE.OrbitControls(this.camera, $('stage'));
    this.controls.addEventListener('change', () => this.draw());
    this.scenes = this.runs.map((run, i) => this.buildScene(run, i));
    this.layout();
    this.resetView();
  }

  // How far each body of a run reaches from its middle: the furthest of its shapes.
  radiiOf(run) {
    const radii = new Map();
    for (const shape of run.shapes) {
      const [x, y, z] = shape.sizes;
      const radius = {
        [SPHERE]: x, [BOX]: Math.hypot(x, y, z) / 2, [CAPSULE]: x + y / 2,
        [CYLINDER]: Math.hypot(x, y / 2)}[shape.kind] ?? this.data.size / 2;
      radii.set(shape.body, Math.max(radius, radii.get(shape.body) ?? 0));
    }
    return run.bodies.map(([number]) => radii.get(number) ?? this.data.size / 2);
  }

  // What moves, in any run: bodies that go further than half a body. Of it the picture
  // holds all of the way, or, where that is much longer than what moves is wide, what
  // moves itself, and goes with it. `places` are [x, y, z, radius] that it has to hold.
  measure() {
    const n = this.data.frames, size = this.data.size, every = Math.ceil(n / 40);
    const at = (run, b, k) =>
      [0, 1, 2].map(i => run.poses[(7 * b + i) * n + k]);
    const distance = (p, q) => Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
    const moves = (run, b) => {
      const [, from, to] = run.bodies[b], start = at(run, b, from);
      for (let k = from; k <= to; k += every)
        if (distance(at(run, b, k), start) > 0.5 * size) return true;
      return false;
    };
    const first = this.runs[0], numbers = first.bodies.map(body => body[0]);
    const moving = numbers.filter(number => this.runs.some(run =>
      run.index.has(number) && moves(run, run.index.get(number))));
    this.moving = (moving.length > 0 ? moving : numbers).map(number => first.index.get(number));

    // a list of places for each run and frame
    const moments = this.runs.flatMap(run => {
      const bodies = this.moving.map(b => run.index.get(first.bodies[b][0]))
        .filter(b => b !== undefined);
      const list = [], radii = this.radiiOf(run);
      for (let k = 0; k < n; k += every)
        list.push(bodies.filter(b => this.isThere(run, b, k))
          .map(b => [...at(run, b, k), radii[b]]));
      return list;
    }).filter(places => places.length > 0);
    // of many the outliers are left out: one that falls off the table for ever
    const boxOf = places => [0, 1, 2].map(i => {
      const values = places.map(place => place[i]).sort((a, b) => a - b);
      const cut = values.length > 20 ? 0.05 : 0, last = values.length - 1;
      return [values[Math.floor(cut * last)], values[Math.ceil((1 - cut) * last)]];
    });
    const within = (places, box) => places.filter(place =>
      box.every(([low, high], i) => place[i] >= low - size && place[i] <= high + size));
    const widthOf = box => Math.max(...box.map(([low, high]) => high - low)) + 2 * size;
    const middleOf = box => box.map(([low, high]) => (low + high) / 2);

    this.middle = new THREE.Vector3();
    this.places = [[0, 0, 0, size]];
    this.follow = '';
    if (moments.length > 0) {
      const way = boxOf(moments.flat());
      const widths = moments.map(places => widthOf(boxOf(places))).sort((a, b) => a - b);
      const median = widths[Math.floor(widths.length / 2)];
      if (widthOf(way) > 3 * median) this.follow = 'moving';
      this.middle.set(...middleOf(this.follow ? boxOf(moments[0]) : way));
      this.places = this.follow
        ? moments.flatMap(places => {
          const mean = [0, 1, 2].map(i =>
            places.reduce((sum, place) => sum + place[i], 0) / places.length);
          return places.map(place => [...[0, 1, 2].map(i =>
            place[i] - mean[i] + this.middle.getComponent(i)), place[3]]);
        })
        : moments.flat();
      this.places = within(this.places, boxOf(this.places));
    }
    this.reach = Math.max(2 * size, ...this.places.map(place =>
      distance(place, this.middle.toArray()) + place[3]));
  }

  // Where what is followed is at a frame; null: nothing is, or it is not there.
  followed(run, frame) {
    const position = new THREE.Vector3(), sum = new THREE.Vector3();
    const bodies = this.follow === 'moving'
      ? this.moving.map(b => run.index.get(this.runs[0].bodies[b][0]))
      : this.follow ? [run.index.get(Number(this.follow))] : [];
    let count = 0;
    for (const b of bodies) {
      if (b === undefined || !this.isThere(run, b, frame)) continue;
      this.pose(run, b, frame, position, new THREE.Quaternion());
      sum.add(position);
      count++;
    }
    return count > 0 ? sum.divideScalar(count) : null;
  }

  // Each run's world is moved so that what is followed stays in the middle.
  followOn(built) {
    const there = this.followed(built.run, this.frame);
    if (there) built.scene.position.copy(this.middle).sub(there);
    else if (!this.follow) built.scene.position.set(0, 0, 0);
  }

  // The body whose middle is nearest to a place of the picture, by its number; null:
  // none is near.
  bodyAt(x, y) {
    const i = this.views.findIndex(v => x >= v.x && x <= v.x + v.width &&
                                        y >= v.y && y <= v.y + v.height);
    if (i < 0) return null;
    const v = this.views[i], {run, scene} = this.scenes[i];
    const middle = new THREE.Vector3(), turn = new THREE.Quaternion();
    // pixels of half a body at the camera's target
    const arm = this.camera.position.distanceTo(this.controls.target);
    let nearest = Math.max(24, 0.7 * this.data.size / arm * Math.min(v.width, v.height) / 0.73);
    let found = null;
    this.camera.aspect = v.width / v.height;
    this.camera.updateProjectionMatrix();
    run.bodies.forEach(([number], b) => {
      if (!this.isThere(run, b, this.frame)) return;
      this.pose(run, b, this.frame, middle, turn);
      middle.add(scene.position).project(this.camera);
      const away = Math.hypot(v.x + (middle.x + 1) / 2 * v.width - x,
                              v.y + (1 - middle.y) / 2 * v.height - y);
      if (away < nearest && middle.z < 1) [nearest, found] = [away, number];
    });
    return found;
  }

  // A floor says which way is up.
  guessUp() {
    for (const shape of this.runs[0].shapes)
      if (shape.kind === PLANE)
        for (const [i, name] of [[1, 'y'], [2, 'z']])
          if (Math.abs(shape.sizes[i]) > 0.9) return name;
    return 'z';
  }

  // Tangents of half the angles of view, across and up. The angle is that of the shorter
  // side: nothing is cut off.
  tangents(view) {
    const aspect = view.width / view.height, half = Math.tan(20 * Math.PI / 180);
    return [half * Math.max(aspect, 1), half / Math.min(aspect, 1)];
  }

  // The camera looks along -`back` from where it just sees all `places`.
  fit(back, up) {
    const margin = 1.15, across = new THREE.Vector3().crossVectors(up, back).normalize();
    const axes = [across, new THREE.Vector3().crossVectors(back, across)];
    const seen = this.places.map(([x, y, z, radius]) => {
      const arm = new THREE.Vector3(x, y, z).sub(this.middle);
      return {at: axes.map(axis => arm.dot(axis)), depth: arm.dot(back), radius};
    });
    const target = this.controls.target.copy(this.middle);
    let distance = 0;
    axes.forEach((axis, i) => {
      const lowest = Math.min(...seen.map(s => s.at[i] - s.radius));
      const highest = Math.max(...seen.map(s => s.at[i] + s.radius));
      const centre = (lowest + highest) / 2;
      target.addScaledVector(axis, centre);
      for (const s of seen)
        for (const view of this.views)
          distance = Math.max(distance, s.depth +
            margin * (Math.abs(s.at[i] - centre) + s.radius) / this.tangents(view)[i]);
    });
    this.camera.position.copy(target).addScaledVector(back, distance);
  }

  resetView() {
    if (!this.views) return;
    const up = this.up === 'z' ? [0, 0, 1] : [0, 1, 0];
    const from = this.up === 'z' ? [0.45, -1, 0.35] : [0.45, 0.35, 1];
    this.camera.up.set(...up);
    this.camera.near = this.reach / 1000;
    this.camera.far = this.reach * 100;
    this.fit(new THREE.Vector3(...from).normalize(), new THREE.Vector3(...up));
    this.controls.object = this.camera;
    this.controls._quat?.setFromUnitVectors(this.camera.up, new THREE.Vector3(0, 1, 0));
    if (this.controls._quatInverse)
      this.controls._quatInverse.copy(this.controls._quat).invert();
    this.controls.update();
    this.draw();
  }

  geometryOf(shape) {
    const s = shape.sizes;
    switch (shape.kind) {
      case SPHERE: return ['sphere', [s[0], s[0], s[0]],
        () => new THREE.SphereGeometry(1, 24, 16)];
      case BOX: return ['box', [s[0], s[1], s[2]], () => new THREE.BoxGeometry(1, 1, 1)];
      case CYLINDER: return ['cylinder', [s[0], s[0], s[1]],
        () => new THREE.CylinderGeometry(1, 1, 1, 28).rotateX(Math.PI / 2)];
      case CAPSULE: return [`capsule ${s[0]} ${s[1]}`, [1, 1, 1],
        () => new THREE.CapsuleGeometry(s[0], s[1], 8, 20).rotateX(Math.PI / 2)];
      case PLANE: return [`plane`, [1, 1, 1],
        () => new THREE.PlaneGeometry(20 * this.reach, 20 * this.reach)];
      default: return [`mesh ${shape.mesh}`, [1, 1, 1], () => this.meshGeometry(shape.mesh)];
    }
  }

  meshGeometry(number) {
    const [at, vertices, triangles] = this.data.meshes[number];
    const bytes = this.data.bytes, start = bytes.byteOffset + at;
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(
      new Float32Array(bytes.buffer.slice(start, start + 12 * vertices)), 3));
    geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(bytes.buffer.slice(
      start + 12 * vertices, start + 12 * (vertices + triangles))), 1));
    const flat = geometry.toNonIndexed();
    flat.computeVertexNormals();
    return flat;
  }

  planePose(shape) {
    const [a, b, c, d] = shape.sizes;
    const normal = new THREE.Vector3(a, b, c);
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    const position = this.middle.clone()
      .addScaledVector(normal, d - normal.dot(this.middle));
    return [position, turn];
  }

  buildScene(run, index) {
    const scene = new THREE.Scene();
    scene.add(new THREE.HemisphereLight(0xffffff, 0x8d8d8d, 2.2));
    const sun = new THREE.DirectionalLight(0xffffff, 1.6);
    sun.position.set(3, -4, 8);
    scene.add(sun);
    const groups = new Map();
    // a body without a geom is a small ball
    const shaped = new Set(run.shapes.map(shape => shape.body));
    const balls = run.bodies.filter(body => !shaped.has(body[0])).map(body => (
      {body: body[0], kind: SPHERE, sizes: [0.03 * this.reach, 0, 0, 0],
       position: [0, 0, 0], quaternion: [1, 0, 0, 0]}));
    for (const shape of [...run.shapes, ...balls]) {
      const body = shape.body === 0 ? -1 : run.index.get(shape.body);
      if (body === undefined) continue;
      const [key, scale, make] = this.geometryOf(shape);
      const name = key + (body < 0 ? ' still' : '');
      if (!groups.has(name)) groups.set(name, {make, parts: [], still: body < 0});
      groups.get(name).parts.push({shape, body, scale: new THREE.Vector3(...scale)});
    }
    const built = {scene, run, index, instances: []};
    for (const group of groups.values()) {
      // a plane is not seen from behind: it may stand before the scene
      const plane = group.parts[0].shape.kind === PLANE;
      const material = new THREE.MeshLambertMaterial(
        {side: plane ? FRONT : THREE.DoubleSide});
      if (group.still) {
        material.transparent = true;
        material.opacity = 0.55;
        material.polygonOffset = true;
        material.polygonOffsetFactor = material.polygonOffsetUnits = 1;
      }
      const mesh = new THREE.InstancedMesh(group.make(), material, group.parts.length);
      mesh.frustumCulled = false;
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      group.parts.forEach((part, i) => mesh.setColorAt(i, new THREE.Color(0xb9bec6)));
      scene.add(mesh);
      built.instances.push({mesh, parts: group.parts});
    }
    const dots = new THREE.BufferGeometry(), lines = new THREE.BufferGeometry();
    built.most = run.counts.reduce((a, b) => Math.max(a, b), 0);
    dots.setAttribute('position',
      new THREE.BufferAttribute(new Float32Array(3 * built.most + 3), 3));
    lines.setAttribute('position',
      new THREE.BufferAttribute(new Float32Array(6 * built.most + 6), 3));
    built.points = new THREE.Points(dots, new THREE.PointsMaterial(
      {color: 0xd00000, size: 3, sizeAttenuation: false, transparent: true, opacity: 0.7}));
    built.arrows = new THREE.LineSegments(lines, new THREE.LineBasicMaterial(
      {color: 0xd00000, transparent: true, opacity: 0.6}));
    built.points.frustumCulled = built.arrows.frustumCulled = false;
    scene.add(built.points, built.arrows);
    return built;
  }

  // The pose of a body at a frame, which may lie between two.
  pose(run, body, frame, position, turn) {
    const n = this.data.frames;
    const k = Math.min(Math.floor(frame), n - 1), next = Math.min(k + 1, n - 1);
    const part = frame - k;
    const at = i => (1 - part) * run.poses[(7 * body + i) * n + k] +
      part * run.poses[(7 * body + i) * n + next];
    position.set(at(0), at(1), at(2));
    turn.set(at(4), at(5), at(6), at(3)).normalize();
  }

  isThere(run, body, frame) {
    const [, first, last] = run.bodies[body];
    return frame >= first && frame <= last + 1;
  }

  speed(run, body, frame) {
    const n = this.data.frames, k = Math.max(0, Math.min(Math.floor(frame), n - 2));
    let sum = 0;
    for (let i = 0; i < 3; i++) {
      const row = (7 * body + i) * n;
      const d = run.poses[row + k + 1] - run.poses[row + k];
      sum += d * d;
    }
    return Math.sqrt(sum) / this.data.interval;
  }

  // From the same body in the reference, or in the first run.
  distance(run, body, position, frame) {
    const other = this.runs.find(r => r.reference) || this.runs[0];
    const index = other.index.get(run.bodies[body][0]);
    if (index === undefined) return 0;
    const there = new THREE.Vector3();
    this.pose(other, index, frame, there, new THREE.Quaternion());
    return there.distanceTo(position);
  }

  // blue, through grey and yellow, to red
  ramp(value, colour) {
    const stops = [[0.18, 0.42, 0.69], [0.75, 0.75, 0.75], [0.95, 0.75, 0.2], [0.8, 0.15, 0.1]];
    const x = Math.max(0, Math.min(1, value)) * 3, k = Math.min(2, Math.floor(x));
    const mix = i => stops[k][i] + (x - k) * (stops[k + 1][i] - stops[k][i]);
    colour.setRGB(mix(0), mix(1), mix(2));
  }

  paint(run, part, position, colour) {
    if (part.body < 0) colour.set(0x9aa1ab);
    else if (this.colouring === 'speed')
      this.ramp(this.speed(run, part.body, this.frame) / this.topSpeed(), colour);
    else if (this.colouring === 'error')
      this.ramp(this.distance(run, part.body, position, this.frame) / this.data.size, colour);
    else colour.setHSL((part.shape.body * 0.618034) % 1, 0.45, 0.58);
  }

  topSpeed() {
    if (this.top === undefined) {
      const all = [];
      for (const run of this.runs)
        for (let b = 0; b < run.bodies.length; b++)
          for (let k = 0; k < this.data.frames; k += Math.ceil(this.data.frames / 40))
            all.push(this.speed(run, b, k));
      all.sort((a, b) => a - b);
      this.top = all[Math.floor(0.98 * all.length)] || 1;
    }
    return this.top;
  }

  stillPose(shape, position, turn) {
    if (shape.kind === PLANE) {
      const [at, turned] = this.planePose(shape);
      position.copy(at);
      turn.copy(turned);
      return;
    }
    let p = shape.position, q = shape.quaternion;
    const time = this.frame * this.data.interval;
    for (const move of shape.moves || [])
      if (move[0] <= time + 1e-9) [, p, q] = move;
    position.set(...p);
    turn.set(q[1], q[2], q[3], q[0]);
  }

  place(built) {
    const {run} = built;
    const position = new THREE.Vector3(), turn = new THREE.Quaternion();
    const own = new THREE.Vector3(), ownTurn = new THREE.Quaternion();
    const matrix = new THREE.Matrix4(), colour = new THREE.Color();
    const nothing = new THREE.Vector3(0, 0, 0);
    for (const {mesh, parts} of built.instances) {
      parts.forEach((part, i) => {
        let scale = part.scale;
        if (part.body < 0) this.stillPose(part.shape, position, turn);
        else {
          this.pose(run, part.body, this.frame, position, turn);
          const p = part.shape.position, q = part.shape.quaternion;
          own.set(...p).applyQuaternion(turn);
          position.add(own);
          turn.multiply(ownTurn.set(q[1], q[2], q[3], q[0]));
          if (!this.isThere(run, part.body, this.frame)) scale = nothing;
        }
        mesh.setMatrixAt(i, matrix.compose(position, turn, scale));
        this.paint(run, part, position, colour);
        mesh.setColorAt(i, colour);
      });
      mesh.instanceMatrix.needsUpdate = mesh.instanceColor.needsUpdate = true;
    }
    this.placeContacts(built);
  }

  placeContacts(built) {
    const {run} = built;
    const k = Math.min(Math.floor(this.frame / this.data.contacts_every),
                       run.counts.length - 1);
    const from = run.starts[k], count = this.showsContacts ? run.counts[k] : 0;
    const dots = built.points.geometry.attributes.position;
    const lines = built.arrows.geometry.attributes.position;
    const length = this.forceScale * this.data.size / this.usualForce(run);
    for (let i = 0; i < count; i++) {
      const n = 6 * (from + i), c = run.contacts;
      // an impact's are not to hide the scene
      const reach = length * Math.hypot(c[n + 3], c[n + 4], c[n + 5]);
      const cut = Math.min(1, 2 * this.forceScale * this.data.size / (reach || 1)) * length;
      for (let j = 0; j < 3; j++) {
        dots.array[3 * i + j] = lines.array[6 * i + j] = c[n + j];
        lines.array[6 * i + 3 + j] = c[n + j] + cut * c[n + 3 + j];
      }
    }
    built.points.geometry.setDrawRange(0, count);
    built.arrows.geometry.setDrawRange(0, 2 * count);
    dots.needsUpdate = lines.needsUpdate = true;
  }

  // A force of usual size is as long as half a body.
  usualForce(run) {
    if (run.usual === undefined) {
      const sizes = [], c = run.contacts;
      for (let i = 0; i < c.length; i += 6 * Math.ceil(c.length / 60000))
        sizes.push(Math.hypot(c[i + 3], c[i + 4], c[i + 5]));
      sizes.sort((a, b) => a - b);
      const most = sizes[sizes.length - 1] || 1;
      run.usual = Math.max(2 * sizes[Math.floor(0.95 * sizes.length)] || 0, 1e-3 * most);
    }
    return run.usual;
  }

  layout() {
    const width = $('stage').clientWidth, n = this.runs.length;
    // on a narrow screen a few beside each other, the others below
    const room = Math.max(1, Math.floor(width / 200));
    const columns = Math.min(n <= 3 ? n : Math.ceil(n / 2), room);
    const rows = Math.ceil(n / columns);
    const height = Math.max(260,
      Math.min(rows * width / columns * 0.8, 0.72 * window.innerHeight));
    $('stage').style.height = height + 'px';
    this.renderer.setSize(width, height, false);
    this.views = this.runs.map((run, i) => ({
      x: (i % columns) * width / columns, y: Math.floor(i / columns) * height / rows,
      width: width / columns, height: height / rows}));
    $('labels').replaceChildren(...this.runs.map((run, i) => {
      const label = element('span');
      const key = element('span', '', {class: 'key'});
      key.style.cssText = `position:static;background:${run.reference ? '#888' : colourOf(i)}`;
      label.append(key, run.label);
      label.style.left = this.views[i].x + 8 + 'px';
      label.style.top = this.views[i].y + 8 + 'px';
      return label;
    }));
    this.draw();
  }

  draw() {
    if (!this.views || !this.scenes) return;
    const total = $('stage').clientHeight;
    this.scenes.forEach((built, i) => {
      const v = this.views[i];
      this.renderer.setViewport(v.x, total - v.y - v.height, v.width - 1, v.height - 1);
      this.renderer.setScissor(v.x, total - v.y - v.height, v.width - 1, v.height - 1);
      this.camera.aspect = v.width / v.height;
      this.camera.fov = 360 / Math.PI * Math.atan(this.tangents(v)[1]);
      this.camera.updateProjectionMatrix();
      this.renderer.render(built.scene, this.camera);
    });
  }

  show(frame) {
    this.frame = Math.max(0, Math.min(frame, this.data.frames - 1));
    for (const built of this.scenes) {
      this.place(built);
      this.followOn(built);
    }
    this.draw();
  }
}

/* ---- what moves the replay ---- */

function connect(data, replay) {
  const last = data.frames - 1, state = document.documentElement.dataset;
  let playing = false, before = 0, frame = 0, ticks = 0;

  function show(to) {
    frame = Math.max(0, Math.min(to, last));
    $('scrub').value = Math.round(frame);
    const time = frame * data.interval;
    $('clock').textContent = `${time.toFixed(2)} of ${(last * data.interval).toFixed(2)} s`;
    $('scrub').setAttribute('aria-valuetext', `${time.toFixed(2)} s`);
    if (replay) replay.show(frame);
  }

  function play(on) {
    playing = on;
    if (on && frame >= last) frame = 0;
    $('play').textContent = on ? 'Pause' : 'Play';
    $('play').setAttribute('aria-pressed', on);
    $('status').textContent = on ? 'playing' : `stopped at ${(frame * data.interval).toFixed(2)} s`;
    state.state = on ? 'playing' : frame >= last ? 'ended' : 'paused';
    before = performance.now();
    if (on) next();
  }

  // a page that is not seen gets no frames: then by the clock
  function next() {
    const number = ++ticks;
    const once = () => { if (number === ticks) tick(performance.now()); };
    requestAnimationFrame(once);
    setTimeout(once, 100);
  }

  function tick(now) {
    if (!playing) return;
    const seconds = Math.min(Math.max(0, now - before), 200) / 1000 * Number($('speed').value);
    before = now;
    show(frame + seconds / data.interval);
    if (frame >= last) play(false);
    else next();
  }

  const step = by => { play(false); show(Math.round(frame) + by); };
  const goTo = time => { play(false); show(time / data.interval); };
  $('scrub').max = last;
  $('scrub').addEventListener('input', () => { play(false); show(Number($('scrub').value)); });
  $('play').addEventListener('click', () => play(!playing));
  $('back').addEventListener('click', () => step(-1));
  $('forward').addEventListener('click', () => step(1));

  // times worth a look, in their order
  const marks = [];
  data.runs.forEach((run, i) => {
    if (run.reference) return;
    const stepper = data.report.steppers.find(s => s.name === run.label);
    const add = (time, words) => {
      if (time !== null && time !== undefined)
        marks.push({time, words: `${run.label} ${words}`, colour: colourOf(i)});
    };
    add(run.off_law, 'misses the contact law');
    add(run.message, 'gives its first message');
    if (stepper) add(stepper.parted, 'parts from the first run');
  });
  marks.sort((a, b) => a.time - b.time);
  for (const {time, words, colour} of last > 0 ? marks : []) {
    const mark = element('span', '', {class: 'mark', title: words});
    mark.style.left =
      `calc(8px + ${Math.min(1, time / (last * data.interval))} * (100% - 16px))`;
    mark.style.background = colour;
    $('marks').append(mark);
  }
  function toMark(way) {
    const now = frame * data.interval, near = 1e-6 * data.interval;
    const next = way > 0 ? marks.find(m => m.time > now + near)
                         : [...marks].reverse().find(m => m.time < now - near);
    if (!next) return;
    goTo(next.time);
    const words = marks.filter(m => Math.abs(m.time - next.time) <= near).map(m => m.words);
    $('mark-name').textContent = `${shown(next.time)} s: ${words.join('; ')}`;
  }
  $('mark-back').hidden = $('mark-on').hidden = marks.length === 0;
  $('mark-back').addEventListener('click', () => toMark(-1));
  $('mark-on').addEventListener('click', () => toMark(1));

  if (replay) {
    if (data.runs.some(run => run.reference))
      $('error-choice').textContent = 'distance from the reference';
    $('colour').addEventListener('change', () => {
      replay.colouring = $('colour').value;
      $('scale').textContent = replay.colouring === 'speed'
        ? `blue 0, red ${shown(replay.topSpeed())} m/s` : replay.colouring === 'error'
          ? `blue 0, red ${shown(data.size)} m` : '';
      show(frame);
    });
    $('contacts').checked = replay.showsContacts;
    $('contacts').addEventListener('change', () => {
      replay.showsContacts = $('contacts').checked;
      show(frame);
    });
    $('force-scale').addEventListener('input', () => {
      replay.forceScale = 2 ** Number($('force-scale').value);
      $('contacts').checked = replay.showsContacts = true;
      show(frame);
    });
    const choices = [...data.runs[0].bodies.map(body => String(body[0]))].slice(0, 500);
    $('follow').append(...choices.map(body => element('option', `body ${body}`, {value: body})));
    $('follow').value = replay.follow;
    const follow = body => {
      replay.follow = body;
      $('follow').value = body;
      const there = replay.followed(replay.runs[0], frame);
      if (body && there) {
        // the camera keeps its way to what it looks at, and comes closer to a body
        const arm = replay.camera.position.clone().sub(replay.controls.target);
        const near = body === 'moving' ? arm.length() : Math.min(arm.length(), 8 * data.size);
        replay.middle.copy(there);
        replay.controls.target.copy(there);
        replay.camera.position.copy(there).add(arm.setLength(near));
        replay.controls.update();
      }
      show(frame);
    };
    $('follow').addEventListener('change', () => follow($('follow').value));
    $('stage').addEventListener('dblclick', event => {
      const box = $('stage').getBoundingClientRect();
      const body = replay.bodyAt(event.clientX - box.left, event.clientY - box.top);
      follow(body === null ? '' : String(body));
    });
    const tellUp = () => { $('up').textContent = `Up is ${replay.up}`; };
    tellUp();
    $('up').addEventListener('click', () => {
      replay.up = replay.up === 'z' ? 'y' : 'z';
      tellUp();
      replay.resetView();
    });
    $('view').addEventListener('click', () => {
      replay.measure();
      $('follow').value = replay.follow;
      show(frame);
      replay.resetView();
    });
    $('stage').addEventListener('keydown', event => {
      const turn = {a: [-0.1, 0], d: [0.1, 0], w: [0, -0.1], s: [0, 0.1]}[event.key.toLowerCase()];
      const actions = {
        ' ': () => play(!playing), ArrowLeft: () => step(-1), ArrowRight: () => step(1),
        Home: () => step(-last - 1), End: () => step(last + 1),
        n: () => toMark(1), p: () => toMark(-1),
        f: () => $('contacts').click(),
        '+': () => zoom(0.9), '=': () => zoom(0.9), '-': () => zoom(1.1)};
      if (turn) orbit(...turn);
      else if (actions[event.key]) actions[event.key]();
      else return;
      event.preventDefault();
    });
  }

  function zoom(by) {
    const {camera, controls} = replay;
    camera.position.sub(controls.target).multiplyScalar(by).add(controls.target);
    controls.update();
    replay.draw();
  }

  function orbit(around, over) {
    const {camera, controls} = replay;
    const arm = camera.position.clone().sub(controls.target);
    const side = new THREE.Vector3().crossVectors(camera.up, arm).normalize();
    arm.applyQuaternion(new THREE.Quaternion().setFromAxisAngle(camera.up, around));
    arm.applyQuaternion(new THREE.Quaternion().setFromAxisAngle(side, over));
    camera.position.copy(controls.target).add(arm);
    controls.update();
    replay.draw();
  }

  show(0);
  state.state = 'ready';
  state.seconds = (performance.now() / 1e3).toFixed(3); // until one can look
  // report.html#play starts by itself, #12.5 stands at that time
  const wanted = location.hash.slice(1);
  if (wanted === 'play') play(true);
  else if (Number(wanted) > 0) goTo(Number(wanted));
  return goTo;
}

function makeReplay(data) {
  if (data.runs.length === 0 || data.runs.every(run => run.bodies.length === 0)) {
    const section = $('stage').parentElement;
    for (const part of section.querySelectorAll('#stage, .controls, .notes'))
      part.style.display = 'none';
    section.append(element('p', 'There was no body to show.'));
    return null;
  }
  try {
    return new Replay(data);
  } catch (problem) {
    $('stage').replaceChildren(element('p',
      'This browser draws nothing in three dimensions (WebGL is not there): ' + problem.message,
      {class: 'failure'}));
    return null;
  }
}

(async () => {
  const data = readData();
  for (const run of data.runs) readRun(data, run);
  fillHead(data.report);
  if (data.report.steppers.every(s => s.steps === 0)) {
    document.querySelector('main').remove(); // nothing to show
    document.documentElement.dataset.state = 'ready';
    return;
  }
  fillTable(data.report, data.figures);
  const replay = makeReplay(data);
  const goTo = connect(data, replay);
  drawCurves(data, goTo);
  matchMedia('(prefers-color-scheme: dark)')
    .addEventListener('change', () => drawCurves(data, goTo));
  if (replay) window.addEventListener('resize', () => replay.layout());
})().catch(problem => {
  $('verdict').textContent = 'The data of this page could not be read: ' + problem.message;
  $('verdict').className = 'failure';
  console.error(problem);
});

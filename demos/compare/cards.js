// Small replays on the first page: solids as polygons, the far ones first. A picture
// shows the moment that tells, and plays once when it is scrolled to or tapped.
'use strict';

const rotate = (q, p) => {
  const [w, x, y, z] = q, [a, b, c] = p;
  const u = 2 * (y * c - z * b), v = 2 * (z * a - x * c), t = 2 * (x * b - y * a);
  return [a + w * u + y * t - z * v, b + w * v + z * u - x * t, c + w * t + x * v - y * u];
};
const plus = (p, q) => [p[0] + q[0], p[1] + q[1], p[2] + q[2]];
const dot = (p, q) => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
const cross = (p, q) => [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2],
                         p[0] * q[1] - p[1] * q[0]];
const unit = p => { const l = Math.hypot(...p); return p.map(x => x / l); };

// Faces of a solid in its own frame, each a list of corners; null: it is round.
function facesOf(shape) {
  const [a, b, c] = shape.sizes;
  if (shape.kind === 'box') {
    const corner = (i, j, k) => [i * a / 2, j * b / 2, k * c / 2], faces = [];
    for (const s of [-1, 1]) {
      faces.push([[s, -1, -1], [s, 1, -1], [s, 1, 1], [s, -1, 1]],
                 [[-1, s, -1], [1, s, -1], [1, s, 1], [-1, s, 1]],
                 [[-1, -1, s], [1, -1, s], [1, 1, s], [-1, 1, s]]);
    }
    return faces.map(face => face.map(p => corner(...p)));
  }
  if (shape.kind === 'sphere') return null;
  const n = 14, long = b / 2 + (shape.kind === 'capsule' ? 0.6 * a : 0);
  const ring = z => [...Array(n)].map((_, i) =>
    [a * Math.cos(2 * Math.PI * i / n), a * Math.sin(2 * Math.PI * i / n), z]);
  const low = ring(-long), high = ring(long);
  return [low, high, ...low.map((p, i) =>
    [p, low[(i + 1) % n], high[(i + 1) % n], high[i]])];
}

function makeCard(article, data) {
  const back = unit(data.back), across = unit(cross([0, 0, 1], back));
  const up = cross(back, across), light = unit([0.4, -0.5, 0.9]);
  const flat = p => [dot(p, across), dot(p, up)];
  const reachOf = shape => shape.kind === 'box' ? Math.hypot(...shape.sizes.slice(0, 3)) / 2
    : shape.sizes[0] + shape.sizes[1] / 2;
  // what the right run needs: the last one
  const right = data.runs[data.runs.length - 1], radius = new Map();
  for (const shape of right.shapes)
    radius.set(shape.body, Math.max(radius.get(shape.body) ?? 0,
      reachOf(shape) + Math.hypot(...shape.at)));
  const box = [[Infinity, -Infinity], [Infinity, -Infinity]];
  const at = time => Math.ceil(Math.min(1, time / right.end) * right.frames.length);
  for (const frame of right.frames.slice(at(data.from ?? 0), at(data.moment)))
    for (const body in frame)
      flat(frame[body]).forEach((x, i) => {
        const r = 0.7 * (radius.get(Number(body)) ?? 0);
        box[i] = [Math.min(box[i][0], x - r), Math.max(box[i][1], x + r)];
      });
  const middle = box.map(([low, high]) => (low + high) / 2);
  const size = (data.far ?? 1.12) * Math.max(...box.map(([low, high]) => high - low));
  for (const run of data.runs)
    for (const shape of run.shapes) shape.faces = facesOf(shape);

  const canvases = [...article.querySelectorAll('canvas')];
  const draw = (canvas, time) => {
    const run = data.runs[canvas.dataset.run], side = canvas.clientWidth;
    const scale = Math.min(2, window.devicePixelRatio || 1);
    canvas.width = canvas.height = side * scale;
    const style = getComputedStyle(document.documentElement);
    const dark = style.getPropertyValue('--paper').trim() !== '#fff';
    const g = canvas.getContext('2d'), zoom = canvas.width / size;
    const at = p => { const [x, y] = flat(p);
      return [canvas.width / 2 + zoom * (x - middle[0]), canvas.height / 2 - zoom * (y - middle[1])]; };
    const part = Math.min(1, time / run.end) * (run.frames.length - 1);
    const frame = run.frames[Math.round(part)];
    const path = points => { g.beginPath();
      points.forEach((p, i) => i ? g.lineTo(...p) : g.moveTo(...p)); };
    g.lineWidth = scale;
    const faces = [];
    // an outline stands where it began, where that is to be seen
    const parts = run.shapes.map(shape => [shape, frame[shape.body], false]);
    if (data.outline)
      parts.push(...run.shapes.map(shape => [shape, run.frames[0][shape.body], true]));
    for (const [shape, pose, outline] of parts) {
      if (!pose) continue;
      const place = plus(pose.slice(0, 3), rotate(pose.slice(3), shape.at));
      const world = p => plus(pose.slice(0, 3),
        rotate(pose.slice(3), plus(shape.at, rotate(shape.turn, p))));
      const hue = shape.body * 222.5 % 360;
      const colour = l => `hsl(${hue} 42% ${(dark ? 34 : 42) + 26 * l}%)`;
      if (!shape.faces) {
        faces.push({depth: dot(place, back), place, r: shape.sizes[0], colour});
        continue;
      }
      for (const face of shape.faces) {
        const points = face.map(world);
        const centre = points.reduce(plus, [0, 0, 0]).map(x => x / points.length);
        let normal = unit(cross(plus(points[1], points[0].map(x => -x)),
                                plus(points[2], points[0].map(x => -x))));
        if (dot(normal, plus(centre, place.map(x => -x))) < 0) normal = normal.map(x => -x);
        if (dot(normal, back) > 0)
          faces.push({depth: dot(centre, back), points, outline,
                      fill: colour(Math.max(0, dot(normal, light)))});
      }
    }
    faces.sort((a, b) => a.depth - b.depth);
    for (const face of faces) {
      g.strokeStyle = face.outline ? style.getPropertyValue('--ink') : dark ? '#fff5' : '#0004';
      if (face.outline) {
        path(face.points.map(at));
        g.closePath();
        g.stroke();
        continue;
      }
      if (face.points) {
        path(face.points.map(at));
        g.closePath();
        g.fillStyle = face.fill;
      } else {
        const [x, y] = at(face.place), r = face.r * zoom;
        const shade = g.createRadialGradient(x - 0.3 * r, y - 0.4 * r, 0.1 * r, x, y, r);
        shade.addColorStop(0, face.colour(1));
        shade.addColorStop(1, face.colour(0.1));
        g.beginPath();
        g.arc(x, y, r, 0, 2 * Math.PI);
        g.fillStyle = shade;
      }
      g.fill();
      g.stroke();
    }
    if (data.stop) {
      const [way, degrees] = data.stop, a = degrees * Math.PI / 180;
      const end = [way * Math.cos(a), way * Math.sin(a), 0], w = [-Math.sin(a), Math.cos(a), 0];
      const mark = s => [end[0] + s * w[0], end[1] + s * w[1], 0];
      g.strokeStyle = style.getPropertyValue('--right');
      g.lineWidth = 2 * scale;
      path([at(mark(-0.6)), at(mark(0.6))]);
      g.stroke();
      g.setLineDash([4 * scale, 4 * scale]);
      path([at([0, 0, 0]), at(end)]);
      g.stroke();
      g.setLineDash([]);
      g.lineWidth = scale;
    }
  };
  const show = time => canvases.forEach(canvas => draw(canvas, time));
  const end = Math.max(...data.runs.map(run => run.end));
  let playing = false;
  const play = () => {
    if (playing) return;
    playing = true;
    // 4 s at most, and then the moment that tells
    const start = performance.now(), speed = Math.max(1, data.moment / 4);
    const next = now => {
      const time = speed * (now - start) / 1000;
      show(Math.min(time, data.moment, end));
      if (time < Math.min(data.moment, end)) requestAnimationFrame(next);
      else playing = false;
    };
    requestAnimationFrame(next);
  };
  const still = () => { if (!playing) show(Math.min(data.moment, end)); };
  still();
  canvases.forEach(canvas => canvas.addEventListener('click', play));
  window.addEventListener('resize', still);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', still);
  if (!matchMedia('(prefers-reduced-motion: reduce)').matches) {
    const seen = new IntersectionObserver(entries => {
      if (!entries.some(entry => entry.isIntersecting)) return;
      seen.disconnect();
      play();
    }, {threshold: 0.7});
    seen.observe(article.querySelector('.three'));
  }
}

for (const article of document.querySelectorAll('article')) {
  const script = article.querySelector('script');
  if (script) makeCard(article, JSON.parse(script.textContent));
}

export {
  AmbientLight, BufferAttribute, BufferGeometry, BoxGeometry, CapsuleGeometry,
  Color, CylinderGeometry, DirectionalLight, DoubleSide, DynamicDrawUsage,
  GridHelper, Group, HemisphereLight, InstancedMesh, LineBasicMaterial,
  LineSegments, Matrix4, Mesh, MeshLambertMaterial, PerspectiveCamera,
  PlaneGeometry, Points, PointsMaterial, Quaternion, Scene, SphereGeometry,
  Vector3, WebGLRenderer
} from 'three';
export {OrbitControls} from 'three/examples/jsm/controls/OrbitControls.js';

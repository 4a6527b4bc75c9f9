// Notes the memories of all instances. Import it before the package.
const { Instance } = WebAssembly;
const memories = [];

WebAssembly.Instance = function (module, imports) {
  const instance = new Instance(module, imports);
  memories.push(new WeakRef(instance.exports.memory));
  return instance;
};

/** Bytes of the memory of each instance, the first made first; 0 for one that was released. */
export function memoryBytes() {
  return memories.map((memory) => memory.deref()?.buffer.byteLength ?? 0);
}

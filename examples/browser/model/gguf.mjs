// Writes GGUF, the file format of llama.cpp's models: a header, metadata, a table of tensors, and their bytes.
const MAGIC = 'GGUF';
const VERSION = 3;
const ALIGNMENT = 32;

/** Numbers of the metadata's types. */
const TYPES = { u32: 4, i32: 5, f32: 6, bool: 7, text: 8, list: 9 };
/** Numbers of the tensors' types, and the bytes of an element. */
const TENSORS = { f32: [0, 4], bf16: [30, 2] };

/** Bytes that grow at their end. */
class Writer {
  #bytes = new Uint8Array(1 << 16);
  #view = new DataView(this.#bytes.buffer);
  length = 0;

  #grow(count) {
    const at = this.length;
    this.length += count;
    if (this.length > this.#bytes.length) {
      const bytes = new Uint8Array(Math.max(this.length, this.#bytes.length * 2));
      bytes.set(this.#bytes);
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer);
    }
    return at;
  }

  u16(value) {
    this.#view.setUint16(this.#grow(2), value, true);
  }
  u32(value) {
    this.#view.setUint32(this.#grow(4), value, true);
  }
  i32(value) {
    this.#view.setInt32(this.#grow(4), value, true);
  }
  f32(value) {
    this.#view.setFloat32(this.#grow(4), value, true);
  }
  u64(value) {
    this.#view.setBigUint64(this.#grow(8), BigInt(value), true);
  }
  bool(value) {
    this.raw([value ? 1 : 0]);
  }
  text(value) {
    const bytes = new TextEncoder().encode(value);
    this.u64(bytes.length);
    this.raw(bytes);
  }
  raw(bytes) {
    this.#bytes.set(bytes, this.#grow(bytes.length));
  }
  /** The upper half of a 32-bit float. */
  bf16(value) {
    const at = this.#grow(4);
    this.#view.setFloat32(at, value, true);
    this.#view.setUint16(at, this.#view.getUint16(at + 2, true), true);
    this.length -= 2;
  }
  align() {
    this.#grow((ALIGNMENT - (this.length % ALIGNMENT)) % ALIGNMENT);
  }
  bytes() {
    return this.#bytes.slice(0, this.length);
  }
}

/**
 * Makes a file.
 * @param metadata entries [key, type, value]; the type is a key of TYPES, or one with [] behind it for a list
 * @param tensors {name, shape, type, values}: shape with the fastest dimension first, type "f32" or "bf16"
 */
export function writeGGUF(metadata, tensors) {
  const file = new Writer();
  file.raw(new TextEncoder().encode(MAGIC));
  file.u32(VERSION);
  file.u64(tensors.length);
  file.u64(metadata.length);
  for (const [key, type, value] of metadata) {
    file.text(key);
    if (type.endsWith('[]')) {
      const element = type.slice(0, -2);
      file.u32(TYPES.list);
      file.u32(TYPES[element]);
      file.u64(value.length);
      for (const item of value) file[element](item);
    } else {
      file.u32(TYPES[type]);
      file[type](value);
    }
  }
  let offset = 0;
  for (const { name, shape, type, values } of tensors) {
    const [number, size] = TENSORS[type];
    file.text(name);
    file.u32(shape.length);
    for (const dimension of shape) file.u64(dimension);
    file.u32(number);
    file.u64(offset);
    offset += Math.ceil((values.length * size) / ALIGNMENT) * ALIGNMENT;
  }
  file.align();
  for (const { type, values } of tensors) {
    for (const value of values) file[type](value);
    file.align();
  }
  return file.bytes();
}

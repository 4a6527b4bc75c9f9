/**
 * Checksums: of stored records, and of bytes.
 */

const table = /* @__PURE__ */ makeTable();

function makeTable(): Uint32Array {
  const made = new Uint32Array(256);
  for (let n = 0; n < 256; n++) {
    let c = n;
    for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
    made[n] = c;
  }
  return made;
}

/** CRC-32 (IEEE) of bytes. @param before the checksum of what precedes them */
export function crc32(bytes: Uint8Array, before = 0): number {
  let c = ~before;
  for (const byte of bytes) c = table[(c ^ byte) & 0xff]! ^ (c >>> 8);
  return ~c >>> 0;
}

const CONSTANTS = /* @__PURE__ */ primes(64, 3);
const START = /* @__PURE__ */ primes(8, 2);

/** The first 32 bits of the fractional parts of the roots of the first primes. */
function primes(count: number, root: number): Uint32Array {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) {
    if (found.every((p) => n % p !== 0)) found.push(n);
  }
  return Uint32Array.from(found, (p) => (p ** (1 / root) % 1) * 2 ** 32);
}

/**
 * SHA-256, piece by piece: the platform has it for whole buffers only, and on pages from http:// not at all.
 */
export class Sha256 {
  readonly #state = START.slice();
  readonly #block = new Uint8Array(64);
  readonly #words = new Uint32Array(64);
  #filled = 0;
  #length = 0;

  /** Adds bytes. */
  add(bytes: Uint8Array): void {
    this.#length += bytes.length;
    for (let at = 0; at < bytes.length;) {
      const piece = bytes.subarray(at, at + 64 - this.#filled);
      this.#block.set(piece, this.#filled);
      this.#filled += piece.length;
      at += piece.length;
      if (this.#filled === 64) this.#compress();
    }
  }

  /** The digest of all bytes, in hex. It takes no more bytes afterwards. */
  hex(): string {
    const bits = this.#length * 8;
    this.#block.fill(0, this.#filled);
    this.#block[this.#filled++] = 0x80;
    if (this.#filled > 56) {
      this.#compress();
      this.#block.fill(0);
    }
    const view = new DataView(this.#block.buffer);
    view.setUint32(56, Math.floor(bits / 2 ** 32));
    view.setUint32(60, bits);
    this.#compress();
    return Array.from(this.#state, (n) => n.toString(16).padStart(8, '0')).join('');
  }

  #compress(): void {
    const w = this.#words;
    const view = new DataView(this.#block.buffer);
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(i * 4);
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      const s0 = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
      const s1 = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
      w[i] = w[i - 16]! + s0 + w[i - 7]! + s1;
    }
    const s = this.#state;
    let [a, b, c, d, e, f, g, h] = s as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    for (let i = 0; i < 64; i++) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const one = (h + s1 + ((e & f) ^ (~e & g)) + CONSTANTS[i]! + w[i]!) | 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((n, i) => (s[i] = s[i]! + n));
    this.#filled = 0;
  }
}

function turn(n: number, bits: number): number {
  return (n >>> bits) | (n << (32 - bits));
}

/** The id of bytes that `rowsOf` puts into a store, made of their SHA-256 in hexadecimal digits: equal bytes have one id. */
export function contentId(hash: string): string {
  return `${CONTENT}${hash}`;
}

/** Whether an id is made of the content of its bytes. */
export function isContentId(id: string): boolean {
  return id.startsWith(CONTENT);
}

/** Begins the ids of bytes that say what the bytes are. */
const CONTENT = 'sha256-';

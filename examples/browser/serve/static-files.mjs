// Files of a few folders, by path prefix.
import { readFile, stat } from 'node:fs/promises';
import { extname, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';

const compress = promisify(brotliCompress);

/** Only these are served. Streaming compilation insists on the module's type. */
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};
/** What is worth compressing on loopback: the modules, to show what a visitor would download. */
const COMPRESSED = /^\/(turncore|agents)\/.*\.wasm$/;
/** Good enough while a visitor waits; a release would take 11. */
const QUALITY = 5;

/** Serves files, compressed ones from memory. */
export class StaticFiles {
  #folders;
  /** file path -> {tag, body: promise of bytes} */
  #compressed = new Map();

  /** @param folders path prefix, ending in a slash, to folder; the first prefix that fits counts */
  constructor(folders) {
    this.#folders = Object.entries(folders).map(([prefix, folder]) => [prefix, resolve(folder)]);
  }

  /** What changes with a file; undefined when there is none. */
  async versionOf(path) {
    const file = this.#fileOf(path);
    const info = file && (await stat(file).catch(() => undefined));
    return info && versionIn(info);
  }

  /** Answers a request for a file. @returns false when there is none */
  async serve(path, request, response) {
    const file = this.#fileOf(path);
    const type = file && TYPES[extname(file)];
    const info = type && (await stat(file).catch(() => undefined));
    if (!info?.isFile()) return false;

    const brotli = COMPRESSED.test(path) && accepts(request, 'br');
    const tag = `"${versionIn(info)}${brotli ? '-br' : ''}"`;
    response.setHeader('ETag', tag);
    response.setHeader('Cache-Control', 'no-cache');
    response.setHeader('Vary', 'Accept-Encoding');
    if (request.headers['if-none-match'] === tag) {
      response.writeHead(304).end();
      return true;
    }
    const body = await (brotli ? this.#compress(file, tag) : readFile(file));
    if (brotli) response.setHeader('Content-Encoding', 'br');
    response.writeHead(200, { 'Content-Type': type, 'Content-Length': body.length });
    response.end(request.method === 'HEAD' ? undefined : body);
    return true;
  }

  #fileOf(path) {
    const [prefix, folder] = this.#folders.find(([p]) => path.startsWith(p));
    let name;
    try {
      name = decodeURIComponent(path.slice(prefix.length)) || 'index.html';
    } catch {
      return undefined;
    }
    const file = resolve(folder, name);
    return file.startsWith(folder + sep) && !name.includes('\0') ? file : undefined;
  }

  #compress(file, tag) {
    const known = this.#compressed.get(file);
    if (known?.tag === tag) return known.body;
    const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY };
    const body = readFile(file).then((bytes) => compress(bytes, { params }));
    body.catch(() => this.#compressed.delete(file));
    this.#compressed.set(file, { tag, body });
    return body;
  }
}

function versionIn({ mtimeMs, size }) {
  return `${mtimeMs.toString(36)}-${size.toString(36)}`;
}

function accepts(request, encoding) {
  const accepted = String(request.headers['accept-encoding'] ?? '').split(',');
  return accepted.some((entry) => entry.trim().split(';', 1)[0] === encoding);
}

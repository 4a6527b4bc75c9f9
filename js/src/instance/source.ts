/**
 * Gets the bytes of a module, on every platform.
 */
import { readFile } from '#packaged';

import { messageOf, TurncoreError } from '../errors.js';
import { ofOtherCopy } from '../other-copy.js';
import { hex } from '../bytes.js';
import { LOST } from '../locate.js';
import { confine, ConfineError } from './confine.js';
import { checkTypes } from './contract.js';
import { tagOf } from './tag.js';

/** Sources of modules. They may be objects of other realms. */
export type ModuleSource =
  | URL
  | string
  | Request
  | Response
  | BufferSource
  | WebAssembly.Module
  | PromiseLike<Response | BufferSource>;

/** What HTML begins with. */
const LESS_THAN = 0x3c;

/**
 * Compiles a module whose memory may grow to so many pages. Returns a compiled module unchanged.
 *
 * @param meanwhile work for this thread while the engine compiles on others; not called for a compiled module
 * @throws TurncoreError E_INVALID_MODULE if it cannot be read, is not WebAssembly or takes too much
 */
export async function compileSource(
  source: ModuleSource,
  pages: number,
  meanwhile: () => void,
): Promise<WebAssembly.Module> {
  const opened = await openSource(source);
  let checking = false;
  try {
    if (tagOf(opened) === 'WebAssembly.Module') return opened;
    const streamed = stream(opened);
    const given = await bytesOf(opened);
    if (given[0] === LESS_THAN) throw new ConfineError('it is a page, not a module');
    checking = true;
    const confined = confine(given, pages);
    checkTypes(confined);
    checking = false;
    // The package's own module has the bound that most hosts want, so it can be compiled while it arrives.
    const asItIs = confined.bytes === given ? streamed : undefined;
    const compiling = asItIs ?? WebAssembly.compile(confined.bytes);
    meanwhile();
    return await compiling;
  } catch (cause) {
    if (cause instanceof ConfineError) {
      throw cannotLoad(`${nameOf(source)}: ${cause.message}`, cause);
    }
    if (!checking) throw unusable(`cannot compile ${nameOf(source)}`, cause);
    throw cause;
  }
}

/** Starts to compile a response while it arrives, if possible. */
function stream(opened: Opened): Promise<WebAssembly.Module> | undefined {
  if (tagOf(opened) !== 'Response' || typeof WebAssembly.compileStreaming !== 'function') {
    return undefined;
  }
  const response = opened as Response;
  // Streaming requires the media type, which many servers do not know.
  const type = response.headers.get('content-type') ?? '';
  if (!/^application\/wasm\b/i.test(type)) return undefined;
  const compiling = WebAssembly.compileStreaming(response.clone());
  compiling.catch(() => undefined); // nobody may want it
  return compiling;
}

/** The bytes of a source that is open, and not compiled. */
export async function bytesOf(opened: Opened): Promise<Uint8Array<ArrayBuffer>> {
  const bytes =
    tagOf(opened) === 'Response'
      ? await (opened as Response).arrayBuffer()
      : (opened as BufferSource);
  if (!ArrayBuffer.isView(bytes)) return new Uint8Array(bytes);
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** SHA-256 of a module's bytes in hex; empty for a WebAssembly.Module and for a used response. */
export async function hashSource(source: ModuleSource): Promise<string> {
  const tag = tagOf(source);
  if (tag === 'WebAssembly.Module' || tag === 'Response' || tag === 'Promise') return '';
  const bytes = await bytesOf(await openSource(source));
  return hex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

/** What a source gives. */
export type Opened = Response | BufferSource | WebAssembly.Module;

/** Reads a source, or asks a server for it. */
export async function openSource(source: ModuleSource): Promise<Opened> {
  const given = await source;
  switch (tagOf(given)) {
    case 'WebAssembly.Module':
    case 'ArrayBuffer':
    case 'SharedArrayBuffer':
      return given;
    case 'Response':
      return checkStatus(given as Response).clone(); // it may be wanted again, with another bound
    case 'Request':
      return fetchModule((given as Request).clone());
    case 'URL':
    case 'String':
      return openLocation(given as URL | string);
    default:
      if (ArrayBuffer.isView(given)) return given;
      throw cannotLoad(`it is given as ${tagOf(given)}${ofOtherCopy(given)}`);
  }
}

async function openLocation(location: URL | string): Promise<Opened> {
  const url = urlOf(location);
  if (url?.protocol === LOST) {
    throw cannotLoad(`this bundle does not know where ${url.pathname} is`);
  }
  if (url !== undefined && url.protocol !== 'file:') return fetchModule(url.href);
  // Without a file system, a text that is not a URL is relative to the page.
  if (readFile === undefined) return fetchModule(url?.href ?? String(location));
  try {
    return await readFile(url ?? String(location));
  } catch (cause) {
    throw unusable(`cannot read ${String(location)}`, cause);
  }
}

/** A text as a URL; undefined for a path, also one with a Windows drive. */
function urlOf(location: URL | string): URL | undefined {
  if (typeof location !== 'string') return location;
  if (/^[A-Za-z]:[\\/]/.test(location)) return undefined;
  try {
    return new URL(location);
  } catch {
    return undefined;
  }
}

async function fetchModule(target: string | Request): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(target);
  } catch (cause) {
    throw unusable(`cannot fetch ${typeof target === 'string' ? target : target.url}`, cause);
  }
  return checkStatus(response);
}

function checkStatus(response: Response): Response {
  if (response.ok) return response;
  throw cannotLoad(`cannot fetch ${nameOf(response)}: HTTP status ${response.status}`);
}

function nameOf(source: ModuleSource): string {
  if (typeof source === 'string') return source;
  if (tagOf(source) === 'URL') return (source as URL).href;
  if (tagOf(source) === 'Request' || tagOf(source) === 'Response')
    return (source as Response).url || 'the module';
  return 'the module';
}

function unusable(what: string, cause: unknown): TurncoreError {
  const help = isForbidden(cause) ? ALLOW : REMEDY;
  return cannotLoad(`${what}: ${messageOf(cause).replace(/\.$/, '')}`, cause, help);
}

/** Whether a platform tells that the page's policy allows no module. WebKit compiles one all the same. */
export function isForbidden(error: unknown): boolean {
  return /policy|csp|unsafe-eval/i.test(messageOf(error));
}

/** The remedy for a module that cannot be loaded. */
const REMEDY =
  'Give the module yourself: `host: { module }` takes its URL, its bytes, a Response or a WebAssembly.Module. ' +
  'docs/hosts.md has the line for each platform and bundler.';

/** The remedy where the page's policy forbids it. */
export const ALLOW = "Add 'wasm-unsafe-eval' to script-src in the page's Content-Security-Policy.";

/** The error for a module that cannot be loaded. */
export function cannotLoad(why: string, cause?: unknown, help: string = REMEDY): TurncoreError {
  return new TurncoreError('E_INVALID_MODULE', `The module cannot be loaded: ${why}. ${help}`, {
    help,
    ...(cause === undefined ? {} : { cause }),
  });
}

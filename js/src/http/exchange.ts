/**
 * HTTP requests of the module. The module names a credential; only the host has it, and attaches it for the
 * credential's origins.
 */
import { Redirect } from '../abi/frames.gen.js';
import type { HTTPArgs } from '../codec/tuples.gen.js';
import { wrongFrame } from '../codec/decoder.js';
import { TurncoreError } from '../errors.js';
import { type Credential, Redactor } from './credential.js';
import { insertMedia, type MediaSplice, mediaSplices, type RecordOf } from './splice.js';

/** A host's permissions for a module's requests. */
export interface HttpSettings {
  /** Credentials by name. */
  readonly credentials: Readonly<Record<string, Credential>>;
  /** Allowed origins; undefined for all. */
  readonly allowedOrigins: readonly string[] | undefined;
  /** Makes requests. */
  readonly fetch: typeof fetch;
}

/** Gets the progress of a request. */
export interface HttpListener {
  head(status: number, headers: readonly (readonly [string, string])[]): void;
  data(bytes: Uint8Array): void;
  done(): void;
  failed(error: unknown): void;
}

/** Bytes of a body per chunk. */
const CHUNK = 64 << 10;
/** Largest number of redirects of a request, whatever the module asks for. */
const MAX_REDIRECTS = 20;
/** Statuses that redirect. */
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers of a request to another origin: they do not identify the sender. */
const PLAIN_HEADERS = new Set([
  'accept',
  'accept-language',
  'content-encoding',
  'content-language',
  'content-type',
  'range',
  'user-agent',
]);
/** Forbidden methods. */
const FORBIDDEN_METHODS = new Set(['CONNECT', 'TRACE', 'TRACK']);

/** One request. */
export class HttpExchange {
  readonly #settings: HttpSettings;
  readonly #listener: HttpListener;
  readonly #abort = new AbortController();
  readonly #credential: string;
  readonly #redirect: number;
  readonly #redirects: number;
  #method: string;
  #url: string;
  #headers: [string, string][];
  #body: Uint8Array<ArrayBuffer> | undefined;
  readonly #splices: readonly MediaSplice[];
  /** The attached header; undefined for none, and after a redirect to another origin. */
  #secret: [string, string] | undefined;
  /** Removes the secret from everything that comes back, even when it is not sent. */
  #redactor: Redactor | undefined;

  /**
   * @param recordOf finds the records whose media belong in the body
   * @throws CodecError for invalid arguments
   */
  constructor(
    settings: HttpSettings,
    args: HTTPArgs,
    listener: HttpListener,
    recordOf: RecordOf = () => undefined,
  ) {
    this.#settings = settings;
    this.#listener = listener;
    this.#method = args.method;
    this.#url = args.url;
    this.#headers = args.headers.map(([name, value, ...more]) => {
      if (name === undefined || value === undefined || more.length > 0) {
        throw wrongFrame('HTTPArgs: a header is a name and a value');
      }
      return [name, value];
    });
    this.#body = args.body ?? undefined;
    this.#credential = args.credential;
    this.#redirect = args.redirect;
    this.#redirects = Math.min(args.redirects, MAX_REDIRECTS);
    this.#splices = mediaSplices(args.splices, this.#body?.length ?? 0, recordOf);
    if (this.#redirect > Redirect.Manual) {
      throw wrongFrame(`HTTPArgs: redirect ${this.#redirect}`);
    }
  }

  /** Stops the request: its answer is no longer wanted. */
  cancel(): void {
    this.#abort.abort();
  }

  /** Makes the request and notifies the listener. Never rejects. */
  async run(): Promise<void> {
    try {
      const response = await this.#request();
      this.#listener.head(response.status, this.#headersOf(response));
      if (response.body !== null) await this.#read(response.body);
    } catch (error) {
      this.#listener.failed(this.#explain(error));
      return;
    }
    this.#listener.done();
  }

  async #request(): Promise<Response> {
    let url = this.#target();
    await this.#attach(url);
    if (this.#splices.length > 0) {
      const { signal } = this.#abort;
      this.#body = await insertMedia(this.#body ?? new Uint8Array(), this.#splices, signal);
    }
    for (let followed = 0; ; followed++) {
      const response = await this.#send(url);
      if (response.type === 'opaqueredirect') {
        throw redirected('this platform does not show where it leads');
      }
      const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
      if ((location ?? '') === '' || this.#redirect === Redirect.Manual) return response;
      response.body?.cancel().catch(() => undefined); // not wanted
      if (this.#redirect === Redirect.Error) throw redirected(`status ${response.status}`);
      if (followed >= this.#redirects) throw redirected(`more than ${this.#redirects}`);
      url = this.#follow(url, response.status, location!);
    }
  }

  #send(url: URL): Promise<Response> {
    const secret = this.#secret;
    const headers =
      secret === undefined
        ? this.#headers
        : [...this.#headers.filter(([name]) => name.toLowerCase() !== secret[0]), secret];
    return this.#settings.fetch(url, {
      method: this.#method,
      headers,
      ...(this.#body === undefined ? {} : { body: this.#body }),
      redirect: this.#isOpen() ? 'follow' : 'manual',
      signal: this.#abort.signal,
    });
  }

  /**
   * Whether the platform may follow redirects itself. Browsers do not show where they lead, so there only a request
   * with nothing to check and nothing to hide may.
   */
  #isOpen(): boolean {
    return (
      hidesRedirects &&
      this.#redirect === Redirect.Follow &&
      this.#redirects > 0 &&
      this.#secret === undefined &&
      this.#settings.allowedOrigins === undefined &&
      this.#headers.every(([name]) => PLAIN_HEADERS.has(name.toLowerCase()))
    );
  }

  /** The next address of the request. @throws TurncoreError E_HTTP_NOT_ALLOWED if it is not allowed */
  #target(): URL {
    let url: URL;
    try {
      url = new URL(this.#url);
    } catch {
      throw notAllowed('the address is no URL');
    }
    const method = this.#method.toUpperCase();
    if (FORBIDDEN_METHODS.has(method)) throw notAllowed(`the method ${method}`);
    if ((method === 'GET' || method === 'HEAD') && (this.#body?.length ?? 0) > 0) {
      throw notAllowed(`a ${method} with a body`);
    }
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw notAllowed('the address is no http or https URL');
    }
    if (url.username !== '' || url.password !== '') {
      throw notAllowed(`an address with a user name, at ${url.origin}`);
    }
    const { allowedOrigins } = this.#settings;
    if (allowedOrigins?.some((origin) => originOf(origin) === url.origin) === false) {
      throw notAllowed(url.origin);
    }
    url.hash = '';
    return url;
  }

  /** Gets the credential. @throws TurncoreError E_CREDENTIAL_UNKNOWN if there is none for the origin */
  async #attach(url: URL): Promise<void> {
    const name = this.#credential;
    if (name === '') return;
    const { credentials } = this.#settings;
    const credential = Object.hasOwn(credentials, name) ? credentials[name] : undefined;
    if (!credential?.origins.some((origin) => originOf(origin) === url.origin)) {
      throw TurncoreError.of('E_CREDENTIAL_UNKNOWN', `${name} for ${url.origin}`);
    }
    const { value } = credential;
    const text = typeof value === 'function' ? await value() : value;
    this.#secret = [credential.header.toLowerCase(), text];
    this.#redactor = Redactor.of(text);
  }

  /**
   * Changes the request as a redirect requires, by the rules of the Fetch standard. At another origin it has no
   * credential, and only headers that do not identify the sender.
   */
  #follow(from: URL, status: number, location: string): URL {
    let url: URL;
    try {
      url = new URL(location, from);
    } catch {
      throw redirected('the location is no URL');
    }
    if (url.origin !== from.origin) {
      this.#secret = undefined;
      this.#headers = this.#headers.filter(([name]) => PLAIN_HEADERS.has(name.toLowerCase()));
    }
    const method = this.#method.toUpperCase();
    if (
      (status === 303 && method !== 'GET' && method !== 'HEAD') ||
      (status < 303 && method === 'POST')
    ) {
      this.#method = 'GET';
      this.#body = undefined;
      this.#headers = this.#headers.filter(([name]) => !name.toLowerCase().startsWith('content-'));
    }
    this.#url = url.href;
    return this.#target();
  }

  /** The head's names and values, by name, without the secret. Cookies are dropped: the module keeps none. */
  #headersOf(response: Response): [string, string][] {
    const headers: [string, string][] = [];
    response.headers.forEach((value, name) => {
      const lower = name.toLowerCase();
      if (lower === 'set-cookie' || lower === 'set-cookie2') return;
      headers.push([lower, this.#redactor?.text(value) ?? value]);
    });
    return headers;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const redactor = this.#redactor;
    const { signal } = this.#abort;
    const reader = body.getReader();
    // The program's own fetch may ignore the signal: its body would be read to an end that never comes.
    const leave = (): void => void reader.cancel().catch(() => undefined);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    try {
      for (;;) {
        const { done, value } = await reader.read();
        signal.throwIfAborted();
        if (done) return;
        this.#pass(redactor === undefined ? value : redactor.write(value));
      }
    } finally {
      signal.removeEventListener('abort', leave);
      if (redactor !== undefined && !this.#abort.signal.aborted) this.#pass(redactor.rest());
    }
  }

  #pass(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += CHUNK) {
      this.#listener.data(bytes.subarray(at, at + CHUNK));
    }
  }

  /** The error's text without the secret: platforms quote a header that cannot be sent. */
  #explain(cause: unknown): unknown {
    if (this.#abort.signal.aborted) return this.#abort.signal.reason;
    if (cause instanceof TurncoreError) return cause;
    const inner =
      cause instanceof Error && cause.cause instanceof Error ? `: ${cause.cause.message}` : '';
    const text = cause instanceof Error ? `${cause.message}${inner}` : String(cause);
    const redactor = this.#redactor;
    if (redactor?.finds(cause) === true) {
      return TurncoreError.of('E_HTTP_TRANSPORT', redactor.text(text));
    }
    return TurncoreError.of('E_HTTP_TRANSPORT', text, { cause });
  }
}

function notAllowed(detail: string): TurncoreError {
  return TurncoreError.of('E_HTTP_NOT_ALLOWED', detail);
}

function redirected(detail: string): TurncoreError {
  return TurncoreError.of('E_HTTP_REDIRECT', detail);
}

/** The origin of a URL, undefined for an invalid URL. */
function originOf(url: string): string | undefined {
  try {
    return new URL(url).origin;
  } catch {
    return undefined;
  }
}

/** Pages and workers of browsers hide redirects; servers do not. */
const hidesRedirects = 'document' in globalThis || 'importScripts' in globalThis;

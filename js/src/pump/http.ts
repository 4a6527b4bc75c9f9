/**
 * HTTP requests that the module asks for. The module names a credential; only the host has it, and attaches it for the
 * origins that it is meant for.
 */
import { requireShape } from '../codec/shape.js';
import { TurncoreError } from '../errors.js';

/** A secret that requests may carry, by name. */
export interface Credential {
  /** Header that it goes into, such as `authorization`. */
  readonly header: string;
  /** Its value, or a function that gets it when it is needed. */
  readonly value: string | (() => string | Promise<string>);
  /** Origins that it may be sent to, such as `https://api.openai.com`. No others ever get it. */
  readonly origins: readonly string[];
}

/** What a host allows a module's requests. */
export interface HttpSettings {
  /** Secrets by the name that a request gives. */
  readonly credentials: Readonly<Record<string, Credential>>;
  /** Origins that may be requested; undefined for all. */
  readonly allowedOrigins: readonly string[] | undefined;
  /** Makes requests. */
  readonly fetch: typeof fetch;
}

/** Told how a request goes. */
export interface HttpListener {
  head(status: number, headers: readonly (readonly [string, string])[]): void;
  data(bytes: Uint8Array): void;
  done(): void;
  failed(error: unknown): void;
}

/** Bytes of a body that cross at once. */
const CHUNK = 64 << 10;
/** Redirects that are followed. */
const MAX_REDIRECTS = 5;
/** Statuses that redirect. */
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** One request. */
export class HttpEffect {
  readonly #settings: HttpSettings;
  readonly #listener: HttpListener;
  readonly #abort = new AbortController();
  readonly #credential: string;
  #method: string;
  #url: string;
  #headers: [string, string][];
  #body: Uint8Array<ArrayBuffer> | undefined;

  /** @throws CodecError for malformed arguments */
  constructor(settings: HttpSettings, args: unknown, listener: HttpListener) {
    const a = requireShape(args, 'ssays', 'HTTPArgs');
    this.#settings = settings;
    this.#listener = listener;
    this.#method = a[0] as string;
    this.#url = a[1] as string;
    this.#headers = ((a[2] ?? []) as unknown[]).map((pair) => {
      const p = requireShape(pair, 'ss', 'header');
      return [p[0] as string, p[1] as string];
    });
    this.#body = (a[3] as Uint8Array<ArrayBuffer> | null) ?? undefined;
    this.#credential = a[4] as string;
  }

  /** Stops the request: its answer is not wanted any more. */
  cancel(): void {
    this.#abort.abort();
  }

  /** Makes the request and tells the listener. Never rejects. */
  async run(): Promise<void> {
    try {
      const response = await this.#request();
      const headers: [string, string][] = [];
      response.headers.forEach((value, name) => headers.push([name.toLowerCase(), value]));
      this.#listener.head(response.status, headers);
      if (response.body !== null) await this.#read(response.body);
    } catch (error) {
      this.#listener.failed(this.#explain(error));
      return;
    }
    this.#listener.done();
  }

  async #request(): Promise<Response> {
    for (let redirects = 0; ; redirects++) {
      const url = this.#target();
      const secret = await this.#secret(url);
      const response = await this.#settings.fetch(url, {
        method: this.#method,
        headers: secret === undefined ? this.#headers : [...this.#headers, secret],
        ...(this.#body === undefined ? {} : { body: this.#body }),
        // Browsers do not let a redirect be looked at: there a request with a secret must not meet one.
        redirect: canInspectRedirects ? 'manual' : secret === undefined ? 'follow' : 'error',
        signal: this.#abort.signal,
      });
      const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
      if (location === null) return response;
      if (redirects >= MAX_REDIRECTS) throw new Error(`more than ${MAX_REDIRECTS} redirects`);
      await response.body?.cancel();
      this.#redirect(response.status, new URL(location, url).href);
    }
  }

  #target(): URL {
    const url = new URL(this.#url);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw new Error(`${url.protocol} is no protocol for requests`);
    }
    const { allowedOrigins } = this.#settings;
    if (allowedOrigins !== undefined && !allowedOrigins.includes(url.origin)) {
      throw new Error(`requests to ${url.origin} are not allowed`);
    }
    return url;
  }

  async #secret(url: URL): Promise<[string, string] | undefined> {
    const name = this.#credential;
    if (name === '') return undefined;
    const { credentials } = this.#settings;
    const credential = Object.hasOwn(credentials, name) ? credentials[name] : undefined;
    if (credential === undefined) throw new Error(`there is no credential ${name}`);
    if (!credential.origins.includes(url.origin)) {
      throw new Error(`credential ${name} is not for ${url.origin}`);
    }
    const { value } = credential;
    return [credential.header, typeof value === 'function' ? await value() : value];
  }

  #redirect(status: number, url: string): void {
    this.#url = url;
    if (status === 303 || ((status === 301 || status === 302) && this.#method === 'POST')) {
      this.#method = 'GET';
      this.#body = undefined;
      this.#headers = this.#headers.filter(([name]) => !name.toLowerCase().startsWith('content-'));
    }
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      for (let at = 0; at < value.length; at += CHUNK) {
        this.#listener.data(value.subarray(at, at + CHUNK));
      }
    }
  }

  /** What went wrong, without the secret: errors of fetch name addresses, not headers. */
  #explain(cause: unknown): unknown {
    if (this.#abort.signal.aborted) return this.#abort.signal.reason;
    const inner =
      cause instanceof Error && cause.cause instanceof Error ? `: ${cause.cause.message}` : '';
    const text = cause instanceof Error ? `${cause.message}${inner}` : String(cause);
    return TurncoreError.of('E_HTTP_TRANSPORT', text, { cause });
  }
}

/** Pages and workers of browsers hide redirects; servers do not. */
const canInspectRedirects = !('document' in globalThis) && !('importScripts' in globalThis);

/**
 * A proxy in front of a provider's API that writes down what is said.
 */
import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rename, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { isObject } from '../simulated/text.js';
import type { Interaction } from './recording.js';

/** What is recorded of a request or a response at most, in bytes. A longer response is passed on all the same. */
const MAX_BODY = 64 << 20;
/** What stands where a secret was. */
const REDACTED = 'REDACTED';
/** What is shorter is no key, and taking it out would spoil texts. */
const SHORTEST_KEY = 8;

/** Headers that keys come in. */
const KEY_HEADERS = [
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'cookie',
  'proxy-authorization',
];
/** Parameters of a query that keys come in. */
const KEY_PARAMETERS = ['key', 'api_key', 'api-key', 'apikey', 'access_token', 'token'];
/** Headers that are for the next machine only, and those that the recorder sets itself. */
const HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'accept-encoding',
  'content-length',
]);

/** What a recorder records. */
export interface RecorderOptions {
  readonly name: string;
  /** Of the API; requests keep their paths and go to its origin. */
  readonly target: URL;
  /**
   * Added to requests that bring no key of their own, unless a page of another site sends them.
   */
  readonly key?: { readonly header: string; readonly value: string } | undefined;
  /** Called after each interaction, with all so far. What it rejects with is told. */
  readonly saved?: (recording: RecordedFile) => Promise<void>;
  /** Called with what happens, a line each. */
  readonly told: (line: string) => void;
}

/** A recording as its file has it. */
export interface RecordedFile {
  readonly name: string;
  readonly origin: string;
  readonly interactions: readonly RecordedInteraction[];
}

/** An interaction as a recording's file has it. */
export interface RecordedInteraction extends Interaction {
  readonly request: Interaction['request'] & { readonly method: string };
}

/**
 * Passes requests on to an API and records them with their answers, in order of the requests, without headers and
 * without keys. Requests that are no POST of a JSON object go through without being recorded, and so does what breaks off.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  #secrets: string[] = [];
  /** Undefined while the response is under way, or when it was not recorded. */
  readonly #interactions: (RecordedInteraction | undefined)[] = [];
  #saving: Promise<void> = Promise.resolve();

  constructor(options: RecorderOptions) {
    this.#options = options;
    if (options.key !== undefined) this.#keep(options.key.value);
  }

  /** What was recorded so far. */
  get recording(): RecordedFile {
    const { name, target } = this.#options;
    const interactions = this.#interactions.filter((it) => it !== undefined);
    return { name, origin: target.host, interactions };
  }

  /** Settles when all that was recorded is saved. */
  get idle(): Promise<void> {
    return this.#saving;
  }

  /** Serves a request, for a server of node:http. */
  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    void this.#serve(request, response).catch((error: unknown) => {
      const why = this.#redact(reasonOf(error));
      const { path } = placeOf(request);
      if (response.headersSent) response.destroy();
      else response.writeHead(502, { 'content-type': 'text/plain' }).end(why);
      this.#options.told(`${request.method} ${path}: not recorded: ${why}`);
    });
  };

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (body === undefined) {
      const why = `the request is longer than ${MAX_BODY} bytes`;
      response.writeHead(413, { connection: 'close' }).end(why);
      this.#options.told(`${request.method} ${placeOf(request).path}: ${why}`);
      return;
    }
    const said = request.method === 'POST' ? objectOf(body) : undefined;
    const place = said === undefined ? -1 : this.#interactions.push(undefined) - 1;
    const url = new URL(placeOf(request).target, this.#options.target.origin);
    const gone = new AbortController();
    response.once('close', () => gone.abort(new Error('the client has gone')));
    const answer = await fetch(url, {
      method: request.method!,
      headers: this.#headers(request, url),
      redirect: 'manual',
      signal: gone.signal,
      ...(body.length > 0 && { body: body as Uint8Array<ArrayBuffer> }),
    });
    for (const [name, value] of answer.headers) {
      if (!HOP.has(name) && name !== 'set-cookie') response.setHeader(name, value);
    }
    const cookies = answer.headers.getSetCookie();
    if (cookies.length > 0) response.setHeader('set-cookie', cookies);
    response.writeHead(answer.status);
    const text = await pass(answer, response);
    const bytes = text === undefined ? `more than ${MAX_BODY}` : text.length;
    const line = `${request.method} ${url.pathname}: ${answer.status}, ${bytes} bytes`;
    const { told } = this.#options;
    if (said === undefined) told(`${line}; not recorded, as it is no POST of a JSON object`);
    else if (text === undefined) told(`${line}; not recorded`);
    else if (!isUtf8(text)) told(`${line}; not recorded, as it is not text in UTF-8`);
    else {
      this.#take(place, url, said, answer, text.toString('utf8'));
      told(line);
    }
  }

  #headers(request: IncomingMessage, url: URL): Headers {
    const headers = new Headers({ 'accept-encoding': 'identity' });
    let own = false;
    for (const [name, value] of Object.entries(request.headers)) {
      if (HOP.has(name) || value === undefined) continue;
      for (const one of [value].flat()) {
        headers.append(name, one);
        if (!KEY_HEADERS.includes(name)) continue;
        own ||= name !== 'cookie';
        this.#keep(one);
      }
    }
    for (const name of KEY_PARAMETERS) {
      for (const value of url.searchParams.getAll(name)) {
        own = true;
        this.#keep(value);
      }
    }
    const { key } = this.#options;
    if (key !== undefined && !own && !isForeign(request)) headers.set(key.header, key.value);
    return headers;
  }

  /** Notes a secret in all the ways in which it may be written, the longest first: one may be part of another. */
  #keep(secret: string): void {
    const bare = secret.replace(/^(?:Bearer|Basic) /i, '').trim();
    if (bare.length < SHORTEST_KEY) return;
    const escaped = JSON.stringify(bare).slice(1, -1);
    const forms = [bare, encodeURIComponent(bare), escaped, escaped.replaceAll('/', '\\/')];
    this.#secrets = [...new Set([...this.#secrets, ...forms])].sort((a, b) => b.length - a.length);
  }

  #redact(text: string): string {
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
  }

  #take(place: number, url: URL, said: string, answer: Response, text: string): void {
    const at = new URL(url);
    for (const name of KEY_PARAMETERS) at.searchParams.delete(name);
    this.#interactions[place] = {
      request: {
        method: 'POST',
        url: this.#redact(at.href),
        body: JSON.parse(this.#redact(said)) as unknown,
      },
      response: {
        status: answer.status,
        contentType: answer.headers.get('content-type') ?? 'application/octet-stream',
        body: this.#redact(text),
      },
    };
    const { saved, told } = this.#options;
    if (saved === undefined) return;
    this.#saving = this.#saving
      .then(() => saved(this.recording))
      .catch((error: unknown) => told(`the recording cannot be written: ${reasonOf(error)}`));
  }
}

/** Writes a recording to a file that only its owner can read, whole or not at all. */
export async function saveRecording(recording: RecordedFile, path: string): Promise<void> {
  const part = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const text = `${JSON.stringify(recording, null, 1)}\n`;
    await writeFile(part, text, { mode: 0o600, flag: 'wx' });
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** The path that a request asks for, alone and with its query. */
function placeOf({ url = '/' }: IncomingMessage): { path: string; target: string } {
  const at = new URL(url, 'http://localhost');
  return { path: at.pathname, target: at.pathname + at.search };
}

/** All of a request; undefined when it is too long. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BODY) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The text of a JSON object; undefined for anything else. */
function objectOf(body: Buffer): string | undefined {
  const text = body.toString('utf8');
  try {
    return isObject(JSON.parse(text)) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Passes a response on as it comes. Resolves to all of it, undefined when that is too long. */
async function pass(answer: Response, response: ServerResponse): Promise<Buffer | undefined> {
  let parts: Uint8Array[] | undefined = [];
  let size = 0;
  for await (const part of answer.body ?? []) {
    size += part.length;
    if (size > MAX_BODY) parts = undefined;
    parts?.push(part);
    if (!response.write(part)) await once(response, 'drain');
  }
  response.end();
  return parts === undefined ? undefined : Buffer.concat(parts);
}

/**
 * Tells whether a request comes from a page of another site, or under a name that another site could give this machine:
 * such a page must not spend the key.
 */
function isForeign({ headers }: IncomingMessage): boolean {
  const { origin } = headers;
  if (origin !== undefined && !(URL.canParse(origin) && isLoopback(new URL(origin)))) return true;
  const here = `http://${headers.host ?? ''}`;
  return !(URL.canParse(here) && isLoopback(new URL(here)));
}

function isLoopback({ hostname }: URL): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/**
 * Where an agent's requests may go. Go's is host/agents/route.go.
 */
import { baseURLOf, resolved } from '../chat/providers.js';
import { TurncoreError } from '../errors.js';
import type { ChatModel } from '../front/create-runner.js';
import type { Credential } from '../http/credential.js';

/** Paths of APIs at which models answer and whose requests name the model, below an endpoint's. */
const ANSWERING = ['/chat/completions', '/messages', '/responses'];

/** Where a granted model answers. */
export interface Endpoint {
  readonly base: URL;
  readonly model: string;
  /** The model's key, in its header; undefined for none. */
  readonly key: Credential | undefined;
}

/** The endpoint of a model behind an API. Without a base URL it takes nothing: the module says what is wrong. */
export function endpointOf(model: ChatModel, key: Credential | undefined): Endpoint {
  const text = resolved(model.baseURL ?? baseURLOf(model.provider ?? 'openai') ?? '');
  const base = new URL(URL.canParse(text) ? text : 'none:');
  return { base, model: model.model, key };
}

/** A fetch that sends what a grant allows: requests to its origins, and those for answers of its models. */
export function routed(
  send: typeof fetch,
  origins: readonly string[],
  endpoints: readonly Endpoint[],
): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const carried = endpoints.filter(({ key }) => key !== undefined && carries(init, key));
    const asked = carried.length > 0 ? carried : endpoints.filter(({ key }) => key === undefined);
    if (asked.some((endpoint) => takes(endpoint, url, init))) return send(input, init);
    if (carried.length > 0) {
      throw refused(
        `${url.origin}, with the key of a model and for something else than its answer`,
      );
    }
    if (!origins.some((origin) => new URL(origin).origin === url.origin)) {
      throw refused(`${url.origin}, for something else than the answer of a granted model`);
    }
    return send(input, init);
  };
}

function refused(detail: string): TurncoreError {
  return TurncoreError.of('E_HTTP_NOT_ALLOWED', detail);
}

/** Whether a request carries a key. */
function carries({ headers }: RequestInit, key: Credential): boolean {
  return new Headers(headers).get(key.header) === key.value;
}

/** Whether a request asks an endpoint's model for an answer. */
export function takes({ base, model }: Endpoint, url: URL, { method, body }: RequestInit): boolean {
  const path = base.pathname.replace(/\/+$/, '');
  if (method !== 'POST' || url.origin !== base.origin || !url.pathname.startsWith(path))
    return false;
  const rest = url.pathname.slice(path.length);
  if (ANSWERING.includes(rest)) return body instanceof Uint8Array && namesOnly(body, model);
  const named = `/models/${encodeURIComponent(model)}:`;
  return ['generateContent', 'streamGenerateContent'].some((action) => rest === named + action);
}

/** Whether a request's body is a JSON object whose member `model` is the given one, however often it occurs. */
export function namesOnly(body: Uint8Array, name: string): boolean {
  const text = new TextDecoder().decode(body);
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  } catch {
    return false;
  }
  const values = membersOf(text, 'model');
  return values.length > 0 && values.every((value) => value === name);
}

/** The values of a JSON object's members with a name, in upper or lower case: undefined for a value other than a text. */
function membersOf(text: string, name: string): (string | undefined)[] {
  const values: (string | undefined)[] = [];
  let depth = 0;
  let key: string | undefined;
  for (const token of tokensOf(text)) {
    const isName = key?.toLowerCase() === name;
    if (token === '{' || token === '[') {
      if (depth === 1 && isName) values.push(undefined);
      depth++;
    } else if (token === '}' || token === ']') depth--;
    else if (depth !== 1 || token === ':') continue;
    else if (token === ',') key = undefined;
    else if (key === undefined) key = JSON.parse(token) as string;
    else if (isName) values.push(token.startsWith('"') ? (JSON.parse(token) as string) : undefined);
  }
  return values;
}

/** The tokens of a JSON text. Texts in it may have megabytes, which are too much for regular expressions. */
function* tokensOf(text: string): Generator<string> {
  for (let at = 0, end: number; at < text.length; at = end) {
    const first = text[at]!;
    end = first === '"' ? endOfText(text, at) : at + 1;
    if (first === '"' || '{}[],:'.includes(first)) yield text.slice(at, end);
    else if (!/\s/.test(first)) {
      while (end < text.length && !/[\s{}[\],:"]/.test(text[end]!)) end++;
      yield text.slice(at, end);
    }
  }
}

/** Where a text in quotation marks ends that begins at a place. */
function endOfText(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (text[escapes - 1] === '\\') escapes--;
    if ((end - escapes) % 2 === 0) return end + 1;
  }
  return text.length;
}

// A live model behind OpenAI's chat completions. The key is added here and never leaves the server, except to the
// endpoint.
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { respondJSON } from './json-response.mjs';

const DEFAULT_BASE_URL = 'https://api.openai.com/v1';
const DEFAULT_MODEL = 'gpt-4o-mini';
/** Bytes that a request may have; a long conversation has some hundred thousand. */
const MAX_REQUEST = 4 << 20;
/** Headers of answers that are passed on. */
const PASSED_ON = ['content-type', 'retry-after', 'x-request-id'];

/**
 * The model that the environment names, undefined for none. An endpoint that needs no key is named by OPENAI_BASE_URL
 * alone.
 *
 * @throws Error when OPENAI_BASE_URL is no HTTP address
 */
export function liveModel({ OPENAI_API_KEY: key, OPENAI_BASE_URL: baseURL, OPENAI_MODEL: model }) {
  if (!key && !baseURL) return undefined;
  const url = endpointOf(baseURL || DEFAULT_BASE_URL);
  const name = model || DEFAULT_MODEL;
  return {
    name,
    live: true,
    description: `${name} at ${url.host}${key ? '' : ' (without a key)'}`,
    answer: (request, response) => forward(request, response, { url, key, name }),
  };
}

function endpointOf(baseURL) {
  let url;
  try {
    url = new URL(`${baseURL.replace(/\/+$/, '')}/chat/completions`);
  } catch (cause) {
    throw new Error('OPENAI_BASE_URL must be a URL', { cause });
  }
  if (url.protocol === 'https:' || url.protocol === 'http:') return url;
  throw new Error('OPENAI_BASE_URL must begin with https:// or http://');
}

async function forward(request, response, { url, key, name }) {
  let body;
  try {
    body = JSON.stringify({ ...(await readObject(request)), model: name });
  } catch (error) {
    respondJSON(response, error.status ?? 400, { error: { message: error.message } });
    return;
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  let upstream;
  try {
    upstream = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: request.headers.accept ?? '*/*',
        ...(key ? { authorization: `Bearer ${key}` } : {}),
      },
      body,
      // A redirect would carry the conversation to whoever it names.
      redirect: 'error',
      signal: gone.signal,
    });
  } catch (error) {
    if (gone.signal.aborted) return;
    const why = error.cause?.code ?? error.cause?.message ?? error.message;
    respondJSON(response, 502, { error: { message: `cannot reach ${url.host}: ${why}` } });
    return;
  }
  for (const header of PASSED_ON) {
    const value = upstream.headers.get(header);
    if (value !== null) response.setHeader(header, value);
  }
  response.setHeader('Cache-Control', 'no-store');
  response.writeHead(upstream.status);
  if (upstream.body === null) response.end();
  // What breaks off on either side breaks off on the other one; the page says so.
  else await pipeline(Readable.fromWeb(upstream.body), response).catch(() => response.destroy());
}

/** Reads a request's body, which must be a JSON object. */
async function readObject(request) {
  // Who says so beforehand gets an answer; who does not is cut off.
  if (Number(request.headers['content-length']) > MAX_REQUEST) throw tooLarge();
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > MAX_REQUEST) throw tooLarge();
    parts.push(part);
  }
  let value;
  try {
    value = JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch (cause) {
    throw new Error('the request is no JSON', { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new Error('the request must be an object');
}

function tooLarge() {
  return Object.assign(new Error(`a request has at most ${MAX_REQUEST} bytes`), { status: 413 });
}

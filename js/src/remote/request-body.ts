/**
 * The bodies of requests.
 */
import { joined } from '../bytes.js';
import { TurncoreError } from '../errors.js';
import { isMembers, type Members } from '../sse/event-from-json.js';

/** The error for a request that breaks the rules. */
export function invalidRequest(why: string, status = 400): TurncoreError {
  return TurncoreError.of('E_TURN_REQUEST_INVALID', why, { status });
}

/** The JSON object in a request. @throws TurncoreError (rejects) E_TURN_REQUEST_INVALID for anything else */
export async function jsonBody(request: Request, most: number): Promise<Members> {
  const text = new TextDecoder().decode(await bytesOf(request, most));
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalidRequest('the body must be JSON');
  }
  if (!isMembers(json)) throw invalidRequest('the body must be a JSON object');
  return json;
}

async function bytesOf(request: Request, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const body = request.body?.getReader();
  if (body === undefined) return new Uint8Array();
  for (;;) {
    const { done, value } = await body.read();
    if (done) return joined(parts);
    size += value.length;
    if (size > most) {
      await body.cancel().catch(() => undefined);
      throw invalidRequest(`the body is over the limit of ${most} bytes`, 413);
    }
    parts.push(value);
  }
}

/**
 * Bodies of requests, bounded.
 */
import type { IncomingMessage } from 'node:http';

/**
 * Reads a request's body to its end.
 *
 * @param limit bytes that it may have
 * @throws Error (rejects) when it has more, or breaks off
 */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > limit) throw new Error(`it has more than ${limit} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

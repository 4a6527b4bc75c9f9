/**
 * Bodies of requests, bounded.
 */

/**
 * Reads a request's body to its end.
 *
 * @param limit bytes that it may have
 * @throws Error (rejects) when it has more, or breaks off
 */
export async function readBody(request: AsyncIterable<Uint8Array>, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > limit) throw new Error(`it has more than ${limit} bytes`);
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

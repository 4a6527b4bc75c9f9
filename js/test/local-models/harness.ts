/** What the tests of all adapters need. */
import type { ModelPart, ModelRequest } from '../../src/entries/models.js';

/** A request with one message of a user. */
export function request(more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages: [{ role: 'user', content: 'hi' }],
    signal: new AbortController().signal,
    ...more,
  };
}

/** All parts of an answer, without what is undefined. */
export async function all(
  answer: AsyncIterable<ModelPart> | Promise<AsyncIterable<ModelPart>>,
): Promise<unknown[]> {
  const parts: unknown[] = [];
  for await (const part of await answer) parts.push(JSON.parse(JSON.stringify(part)));
  return parts;
}

/** Takes parts up to one, then aborts, and waits until the engine has let go. @returns the parts that were taken */
export async function abortAfter(
  count: number,
  generate: (request: ModelRequest) => AsyncIterable<ModelPart> | Promise<AsyncIterable<ModelPart>>,
  more: Partial<ModelRequest> = {},
): Promise<number> {
  const controller = new AbortController();
  let taken = 0;
  if (count === 0) controller.abort();
  try {
    for await (const _ of await generate(request({ ...more, signal: controller.signal }))) {
      if (++taken === count) controller.abort();
    }
  } catch (error) {
    if (!controller.signal.aborted) throw error;
  }
  return taken;
}

/** A later turn of the event loop. */
export const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

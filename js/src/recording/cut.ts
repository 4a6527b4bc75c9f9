/**
 * Cuts responses into parts.
 */
import type { Entropy } from '../entropy.js';

/** Bytes of the longest part. */
const MAX_PART = 48;

/** Draws the size of a part. */
export function partSize(random: Entropy): number {
  return 1 + (random(1)[0]! % MAX_PART);
}

/**
 * A response whose body comes in parts cut at random bytes, whatever parts the network delivers: the same parts for the
 * same random numbers.
 */
export function cutResponse(response: Response, random: Entropy): Response {
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const body = new ReadableStream<Uint8Array>(new Cutter(response.body, random), {
    // Nothing is read ahead.
    highWaterMark: 0,
  });
  return new Response(body, { status, statusText, headers });
}

/** Reads a stream in parts, waiting until each is whole. */
class Cutter implements UnderlyingDefaultSource<Uint8Array> {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #random: Entropy;
  #rest: Uint8Array = new Uint8Array(0);

  constructor(body: ReadableStream<Uint8Array>, random: Entropy) {
    this.#reader = body.getReader();
    this.#random = random;
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const size = partSize(this.#random);
    while (this.#rest.length < size) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      const more = new Uint8Array(this.#rest.length + value.length);
      more.set(this.#rest);
      more.set(value, this.#rest.length);
      this.#rest = more;
    }
    if (this.#rest.length === 0) {
      controller.close();
      return;
    }
    controller.enqueue(this.#rest.slice(0, size));
    this.#rest = this.#rest.subarray(size);
  }

  cancel(reason: unknown): Promise<void> {
    return this.#reader.cancel(reason);
  }
}

/**
 * Serves recorded responses over loopback HTTP.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

import { type Entropy, seededEntropy } from '../entropy.js';
import { readBody } from '../simulated/read-body.js';
import { compareRequest, type Difference } from './compare.js';
import { partSize } from './cut.js';
import type { Recording } from './recording.js';

/** Bytes that a request may have. */
const MAX_REQUEST = 64 << 20;

/** Answers the n-th request with the n-th recorded response, in parts that are cut at random bytes. */
export class RecordingServer {
  readonly #recording: Recording;
  readonly #random: Entropy;
  readonly #differences: Difference[] = [];
  #requests = 0;

  /** @param seed the parts are the same for the same seed */
  constructor(recording: Recording, seed: number) {
    this.#recording = recording;
    this.#random = seededEntropy(seed);
  }

  /** How the requests so far differ from the recorded ones. */
  get differences(): readonly Difference[] {
    return this.#differences;
  }

  /** How many requests there were. */
  get requests(): number {
    return this.#requests;
  }

  /** Answers a request; for `http.createServer`. */
  readonly handler = (request: IncomingMessage, response: ServerResponse): void => {
    // What fails here is the connection: the client has gone.
    this.#handle(request, response).catch(() => response.destroy());
  };

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, MAX_REQUEST);
    const n = this.#requests++;
    this.#differences.push(...compareRequest(this.#recording, n, body.toString('utf8')));
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const interaction = this.#recording.interactions[n];
    if (request.method !== 'POST' || !pathname.endsWith('/chat/completions') || !interaction) {
      response.writeHead(404, { 'Content-Type': 'text/plain; charset=utf-8' });
      response.end('the recording has no response to this request\n');
      return;
    }
    const { status, contentType, body: text } = interaction.response;
    // Whatever a turn is told must be the same at every playing.
    response.sendDate = false;
    response.writeHead(status, { 'Content-Type': contentType });
    let rest = Buffer.from(text, 'utf8');
    while (rest.length > 0) {
      const size = partSize(this.#random);
      response.write(rest.subarray(0, size));
      rest = rest.subarray(size);
      // Parts that are written at once would arrive as one.
      await turnOfTheLoop();
    }
    response.end();
  }
}

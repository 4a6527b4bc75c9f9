/**
 * Media in requests to models: their bytes come from the host, whatever sends the request. Go's tests play the same.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';

import { createRunner, Media, MemoryReader, Message, Tool } from '../../src/index.js';
import { type ModelRequest } from '../../src/entries/models.js';
import { type MediaReader } from '../../src/entries/stores.js';
import { readSplice, type Splice } from '../../src/codec/tuples.gen.js';
import { valueOf } from '../../src/codec/decoder.js';
import { Encoder } from '../../src/codec/encoder.js';
import { insertMedia, mediaSplices } from '../../src/http/splice.js';
import { fullModule, skip, testHost } from './harness.js';

const answer =
  'data: {"choices":[{"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const asksForShot =
  'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"shot","arguments":"{}"}}]},' +
  '"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n';

/** Splices as they cross. */
function wire(list: unknown): Splice[] {
  const e = new Encoder();
  e.value(list, 'splices');
  return valueOf((d) => d.list(readSplice, 5), e.bytes());
}

/** A media whose length nobody knows, in pieces. */
class Unmeasured implements MediaReader {
  opened = 0;
  readonly #bytes: Uint8Array;
  readonly #fails: Error | undefined;

  constructor(bytes: Uint8Array, fails?: Error) {
    this.#bytes = bytes;
    this.#fails = fails;
  }

  stream(): ReadableStream<Uint8Array> {
    this.opened++;
    if (this.#fails !== undefined) throw this.#fails;
    const bytes = this.#bytes;
    return new ReadableStream({
      start(controller) {
        for (let at = 0; at < bytes.length; at += 1000) {
          controller.enqueue(bytes.subarray(at, at + 1000));
        }
        controller.close();
      },
    });
  }

  byteLength(): undefined {
    return undefined;
  }
}

const pixels = (n: number): Uint8Array => Uint8Array.from({ length: n }, (_, i) => i * 7);

const image = (reader: MediaReader): Media =>
  Media.userAttachment({
    ...{ id: 'p', kind: 'image', mimeType: 'image/png', filename: 'p.png', reader },
  });

const asking = (media: Media): Message =>
  new Message({
    ...{ id: 'm1', role: 'user', content: 'What is this?', attachments: [media] },
    ...{ createdAt: 1000, updatedAt: 1000 },
  });

/** Serves replies in order, undefined for a status of 503, and keeps what was asked. */
async function serve(
  replies: readonly (string | undefined)[],
  run: (baseURL: string, bodies: string[]) => Promise<void>,
): Promise<void> {
  const bodies: string[] = [];
  const server = createServer((req, res) => {
    let text = '';
    req.setEncoding('utf8').on('data', (part: string) => (text += part));
    req.on('end', () => {
      const reply = replies[bodies.push(text) - 1];
      res.writeHead(reply === undefined ? 503 : 200, { 'content-type': 'text/event-stream' });
      res.end(reply);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, bodies);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('media in requests', { skip }, () => {
  it('are parts with their bytes, in each further request again', async () => {
    const photo = pixels(100_000);
    const shot = new Unmeasured(pixels(70_001));
    const tool = new Tool({
      name: 'shot',
      description: 'Takes a picture',
      inputSchema: { type: 'object' },
      handler: () => [
        Media.toolGenerated({
          ...{ id: 's', kind: 'image', mimeType: 'image/jpeg', filename: 's.jpg', reader: shot },
        }),
      ],
    });
    await serve([undefined, asksForShot, answer], async (baseURL, bodies) => {
      const runner = createRunner({
        model: { model: 'm', baseURL, retry: { baseDelayMs: 1 } },
        tools: [tool],
        host: await testHost({}),
      });
      const { status, error } = await runner.stream({
        message: asking(image(new MemoryReader(photo))),
      }).result;
      assert.deepEqual([status, error, bodies.length], ['ack', undefined, 3]);
      assert.equal(bodies[0], bodies[1]);
      const messages = (body: string): string => body.slice(body.indexOf('"messages"'), -2);
      assert.ok(messages(bodies[2]!).startsWith(messages(bodies[1]!)));
      JSON.parse(bodies[2]!);
      for (const [type, bytes] of [
        ['png', photo],
        ['jpeg', pixels(70_001)],
      ] as const) {
        const data = Buffer.from(bytes).toString('base64');
        const part = `{"type":"image_url","image_url":{"url":"data:image/${type};base64,${data}"}}`;
        assert.ok(bodies[2]!.includes(part), type);
      }
    });
  });

  it('fail the model call when they cannot be read or are too large', async () => {
    await serve([answer], async (baseURL, bodies) => {
      const run = async (reader: MediaReader): Promise<{ code?: string; message: string }> => {
        const runner = createRunner({
          model: {
            ...{ model: 'm', baseURL, maxMediaBytes: 99 },
            retry: { baseDelayMs: 1, maxAttempts: 2 },
          },
          host: await testHost({}),
        });
        const { error } = await runner.stream({ message: asking(image(reader)) }).result;
        return error as never;
      };
      const large = new Unmeasured(pixels(1100));
      assert.equal((await run(large)).code, 'E_MEDIA_TOO_LARGE');
      assert.equal(large.opened, 1);
      const broken = new Unmeasured(pixels(1), new Error('the disk is gone'));
      const error = await run(broken);
      assert.equal(error.code, 'E_HTTP_TRANSPORT');
      assert.match(error.message, /the disk is gone/);
      assert.equal(broken.opened, 2);
      assert.equal(bodies.length, 0);
    });
  });

  it('are noted when they are known to be too large', async () => {
    await serve([answer], async (baseURL, bodies) => {
      const runner = createRunner({
        model: { model: 'm', baseURL, maxMediaBytes: 99 },
        host: await testHost({}),
      });
      const { status } = await runner.stream({
        message: asking(image(new MemoryReader(pixels(100)))),
      }).result;
      assert.equal(status, 'ack');
      assert.ok(bodies[0]!.includes('"What is this?\\n\\n[image p \\"p.png\\", image/png]"'));
      assert.ok(!bodies[0]!.includes('base64'));
    });
  });

  it('reach an engine that takes them', async () => {
    const asked: ModelRequest[] = [];
    const run = async (more: object): Promise<{ status: string; error?: { code?: string } }> => {
      const runner = createRunner({
        model: {
          engine: {
            capabilities: { media: ['image'] },
            async *generate(request) {
              asked.push(await Promise.resolve(request));
              yield { text: 'ok', finish: 'stop' };
            },
          },
          ...more,
        },
        host: await testHost({ module: await fullModule() }),
      });
      const reader = new Unmeasured(new TextEncoder().encode('hello'));
      return (await runner.stream({ message: asking(image(reader)) }).result) as never;
    };
    assert.equal((await run({})).status, 'ack');
    assert.deepEqual(asked[0]!.messages.at(-1), {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'text', text: '[image p "p.png", image/png]' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } },
      ],
    });
    assert.equal((await run({ maxMediaBytes: 4 })).error?.code, 'E_MEDIA_TOO_LARGE');
  });
});

describe('splices', () => {
  const body = new TextEncoder().encode('ab');
  const signal = new AbortController().signal;
  const recordOf = (length: number) => (handle: number) =>
    handle === 1 ? asking(image(new MemoryReader(pixels(length)))) : undefined;

  it('put base64 of any length into a body', async () => {
    for (let length = 0; length < 70; length++) {
      const splices = mediaSplices(
        wire([
          [0, 1, 0, 99],
          [1, 1, 0, 99],
          [2, 1, 0, 99],
        ]),
        2,
        recordOf(length),
      );
      const whole = await insertMedia(body, splices, signal);
      const data = Buffer.from(pixels(length)).toString('base64');
      assert.equal(new TextDecoder().decode(whole), `${data}a${data}b${data}`);
    }
  });

  it('that make no sense are refused', () => {
    for (const list of [
      [[3, 1, 0, 9]],
      [[0, 1, 1, 9]],
      [[0, 2, 0, 9]],
      [[-1, 1, 0, 9]],
      [
        [2, 1, 0, 9],
        [1, 1, 0, 9],
      ],
      [[0, 1, 0]],
      [7],
    ]) {
      assert.throws(() => mediaSplices(wire(list), 2, recordOf(1)), { name: 'CodecError' });
    }
    assert.deepEqual(mediaSplices([], 2, recordOf(1)), []);
  });

  it('stop when nobody wants the request any more', async () => {
    const controller = new AbortController();
    controller.abort(new Error('gone'));
    const splices = mediaSplices(wire([[0, 1, 0, 99]]), 2, recordOf(5));
    await assert.rejects(insertMedia(body, splices, controller.signal), /gone/);
  });
});

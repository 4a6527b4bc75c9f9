import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededEntropy } from '../../src/entropy.js';
import { cutResponse } from '../../src/recording/cut.js';

const text = '0123456789'.repeat(300);

/** A response that comes in parts of the given size. */
function response(size: number): Response {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= text.length) controller.close();
      else controller.enqueue(new TextEncoder().encode(text.slice(at, (at += size))));
    },
  });
  return new Response(body, { status: 201, headers: { 'x-test': 'yes' } });
}

async function parts(seed: number, size: number): Promise<number[]> {
  const cut = cutResponse(response(size), seededEntropy(seed));
  assert.equal(cut.status, 201);
  assert.equal(cut.headers.get('x-test'), 'yes');
  const sizes: number[] = [];
  let all = '';
  for await (const part of cut.body as unknown as AsyncIterable<Uint8Array>) {
    sizes.push(part.length);
    all += new TextDecoder().decode(part);
  }
  assert.equal(all, text);
  return sizes;
}

describe('a cut response', () => {
  it('comes in the same parts however the network cuts it', async () => {
    const sizes = await parts(1, 1);
    assert.ok(sizes.every((size) => size >= 1 && size <= 48));
    assert.deepEqual(await parts(1, 7), sizes);
    assert.deepEqual(await parts(1, 10_000), sizes);
    assert.notDeepEqual(await parts(2, 7), sizes);
  });

  it('passes failure and cancellation on', async () => {
    const failing = new ReadableStream({ pull: () => Promise.reject(new Error('broken')) });
    await assert.rejects(cutResponse(new Response(failing), seededEntropy(1)).text(), /broken/);
    let reason: unknown;
    const endless = new ReadableStream({ cancel: (why) => void (reason = why) });
    await cutResponse(new Response(endless), seededEntropy(1)).body!.cancel('enough');
    assert.equal(reason, 'enough');
  });
});

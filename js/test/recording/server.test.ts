import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { readRecording } from '../../src/recording/recording.js';
import { RecordingServer } from '../../src/recording/server.js';

const body = 'data: {"text":"Zürich €"}\n\n'.repeat(20);
const recording = readRecording({
  name: 'test',
  interactions: [1, 2].map((n) => ({
    request: { url: '', body: { n } },
    response: { status: 200 + n, contentType: 'text/event-stream', body },
  })),
});

async function serve<T>(server: RecordingServer, use: (url: string) => Promise<T>): Promise<T> {
  const http = createServer(server.handler);
  await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready));
  try {
    return await use(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
  } finally {
    http.closeAllConnections();
    http.close();
  }
}

describe('a recording server', () => {
  it('answers one request after the other', async () => {
    const server = new RecordingServer(recording, 1);
    await serve(server, async (url) => {
      const ask = (n: number): Promise<Response> =>
        fetch(`${url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ n }) });
      assert.equal(server.requests, 0);
      const first = await ask(1);
      assert.equal(first.status, 201);
      assert.equal(first.headers.get('content-type'), 'text/event-stream');
      assert.equal(await first.text(), body);
      const second = await ask(3);
      assert.equal(await second.text(), body);
      assert.deepEqual(
        server.differences.map((d) => [d.request, d.path, d.got, d.want]),
        [[1, '/n', 3, 2]],
      );
      assert.equal((await ask(4)).status, 404);
      assert.equal(server.differences.length, 2);
      assert.equal(server.requests, 3);
    });
  });

  it('answers in parts', async () => {
    const server = new RecordingServer(recording, 7);
    await serve(server, async (url) => {
      const response = await fetch(`${url}/chat/completions`, { method: 'POST', body: '{"n":1}' });
      let parts = 0;
      for await (const part of response.body!) {
        assert.ok((part as Uint8Array).length > 0);
        parts++;
      }
      assert.ok(parts > 5, `${parts} parts`);
    });
  });
});

/**
 * Where the module's requests may go when the program gives no list of origins.
 */
import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';

import { createRunner, fetchTool } from '../../src/index.js';
import { codeOf, fullModule, skip } from './harness.js';

const ANSWER =
  'data: {"choices":[{"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

async function serve(listener: RequestListener): Promise<{ server: Server; url: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

it('requests stay where the program has said that they go', { skip }, async () => {
  let reached = 0;
  const other = await serve((_, response) => {
    reached += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER);
  });
  const api = await serve((_, response) => {
    response.writeHead(307, { location: `${other.url}/v1/chat/completions` }).end();
  });
  try {
    const model = { baseURL: `${api.url}/v1`, model: 'm' };
    const module = await fullModule();
    const narrow = createRunner({ model, host: { module } });
    const refused = await narrow.stream({ message: 'Hi!' }).result;
    assert.equal(codeOf(refused.error), 'E_HTTP_NOT_ALLOWED');
    assert.equal(reached, 0);

    const wide = createRunner({ model, host: { module, allowedOrigins: [api.url, other.url] } });
    assert.equal((await wide.stream({ message: 'Hi!' }).result).text, 'Hello.');
    // What a fetch tool may fetch is named by the program, too.
    const tools = [fetchTool({ allow: [`${other.url}/docs`] })];
    const fetching = createRunner({ model, tools, host: { module } });
    const { text, error } = await fetching.stream({ message: 'Hi!' }).result;
    assert.equal(error, undefined);
    assert.equal(text, 'Hello.');
    assert.equal(reached, 2);
  } finally {
    api.server.close();
    other.server.close();
  }
});

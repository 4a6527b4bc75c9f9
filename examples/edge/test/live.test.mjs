// A live model, by key and address from the environment: here a listener on this machine that speaks OpenAI's protocol.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';

import { simulatedProvider } from 'turncore/simulated';

import { clientOf } from './client.mjs';
import { plays } from './plays.mjs';
import { npmStart, start } from './start.mjs';

const KEY = 'sk-the-secret-of-this-test';
const asked = [];
let provider;

before(async () => {
  const answer = simulatedProvider();
  provider = createServer(async (request, response) => {
    const { url, headers } = request;
    asked.push([request.method, url, headers.authorization]);
    if (headers.authorization === `Bearer ${KEY}`) return answer(request, response);
    response.writeHead(401, { 'content-type': 'application/json' });
    return response.end(
      '{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}',
    );
  }).listen(0, '127.0.0.1');
  await once(provider, 'listening');
});
after(() => {
  provider?.closeAllConnections();
  provider?.close();
});

/** Starts a host with a key, and talks to it. */
async function talk(command, key, act) {
  asked.length = 0;
  const server = await start(command, {
    OPENAI_API_KEY: key,
    OPENAI_BASE_URL: `http://127.0.0.1:${provider.address().port}/v1`,
    OPENAI_MODEL: 'the-model',
  });
  try {
    await act(clientOf(`${server.address}/conversations/a/turns`));
  } finally {
    await server.stop();
  }
}

for (const [host, command] of Object.entries({
  workerd: npmStart,
  Node: [process.execPath, 'hosts/node.js'],
})) {
  test(`the provider answers on ${host}, and gets the key`, () =>
    talk(command, KEY, async (client) => {
      await plays(client);
      assert.ok(asked.length >= 5, `${asked.length} requests`);
      for (const request of asked) {
        assert.deepEqual(request, ['POST', '/v1/chat/completions', `Bearer ${KEY}`]);
      }
    }));

  test(`a key that the provider refuses fails the turn on ${host}, and is told to nobody`, () =>
    talk(command, 'sk-another', async ({ post }) => {
      const response = await post('', { message: 'hello', turnId: 'refused' });
      const text = await response.text();
      assert.match(text, /event:end\ndata:{"status":"(nack|failed)"/);
      assert.match(text, /Incorrect API key provided/);
      assert.doesNotMatch(text, /sk-another/);
    }));
}

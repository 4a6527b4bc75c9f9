import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';

import { createRunner } from '../../src/index.js';
import { type OpenAIChatOptions } from '../../src/entries/models.js';

/** A built module's bytes. */
const module = (path: string) => readFile(new URL(`../../../../wasm/${path}`, import.meta.url));

const LINES =
  '{"message":{"role":"assistant","content":"Hel"},"done":false}\n' +
  '{"message":{"content":"lo"},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":2}\n';

/** Asks a model of Ollama's protocol, on a module. */
async function ask(path: string) {
  const requests: string[] = [];
  const runner = createRunner({
    model: { provider: 'ollama', model: 'm', baseURL: 'http://ollama.test' },
    host: {
      module: await module(path),
      fetch: (input) => {
        requests.push(input instanceof Request ? input.url : String(input));
        return Promise.resolve(new Response(LINES));
      },
    },
  });
  return { result: await runner.stream({ message: 'hello' }).result, requests };
}

test('the full module speaks to all providers', async () => {
  const { result, requests } = await ask('full/turncore-full.wasm');
  assert.equal(result.status, 'ack');
  assert.equal(result.text, 'Hello');
  assert.deepEqual(result.usage, { promptTokens: 3, completionTokens: 2, totalTokens: 5 });
  assert.deepEqual(requests, ['http://ollama.test/api/chat']);
});

test('the core module says which module has a provider', async () => {
  const { error } = (await ask('core/turncore.wasm')).result;
  assert.match(
    String(error),
    /`provider` ollama is not in this module, but in turncore-full\.wasm/,
  );
  assert.equal((error as { code?: string }).code, 'E_CHAT_INVALID_OPTIONS');
});

test('both modules take reasoning off the beginning of a text, and other formats are in the full one', async () => {
  const says = async (path: string, reasoningFormat?: OpenAIChatOptions['reasoningFormat']) => {
    const message = { content: '<think>Hm.</think>\n\nHello' };
    const answer = JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] });
    const runner = createRunner({
      model: { model: 'm', baseURL: 'http://model.test/v1', stream: false, reasoningFormat },
      host: { module: await module(path), fetch: () => Promise.resolve(new Response(answer)) },
    });
    const thoughts: string[] = [];
    runner.on('thought', ({ aDelta }) => thoughts.push(aDelta));
    const { text, error } = await runner.stream({ message: 'hello' }).result;
    if (error !== undefined) throw error as Error;
    return [text, thoughts.join('')];
  };
  for (const path of ['core/turncore.wasm', 'full/turncore-full.wasm']) {
    assert.deepEqual(await says(path), ['Hello', 'Hm.']);
    assert.deepEqual(await says(path, 'leading'), ['Hello', 'Hm.']);
    assert.deepEqual(await says(path, 'off'), ['<think>Hm.</think>\n\nHello', '']);
  }
  assert.deepEqual(await says('full/turncore-full.wasm', 'auto'), ['Hello', 'Hm.']);
  await assert.rejects(
    says('core/turncore.wasm', 'auto'),
    /`reasoningFormat` must be leading or off; any other is not in this module, but in turncore-full\.wasm/,
  );
});

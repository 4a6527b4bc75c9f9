/**
 * The agents of examples/agents give the event logs that they give in Go.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';

import { loadAgent, meterAgent } from 'turncore/agents';

import { example, names } from './examples.mjs';
import { playAgent } from './play.mjs';

describe('example agents', () => {
  it('are metered to the same bytes as by the command', async () => {
    const { file } = await example('panel');
    const path = new URL('../../../build/agents/panel-metered.wasm', import.meta.url);
    const metered = await readFile(path);
    assert.ok(metered.length > file.length && metered.equals(meterAgent(file)));
  });
  for (const name of names) {
    it(name, async () => {
      const { file, grant, play, log } = await example(name);
      assert.equal(await playAgent(file, grant, play), log);
    });
  }
});

/** The panel's models behind an API: the small one drafts, the large one answers. */
const panelists = async (_, { body }) => {
  const { model } = JSON.parse(new TextDecoder().decode(body));
  const call = {
    index: 0,
    id: 'c',
    type: 'function',
    function: { name: 'draft', arguments: '{}' },
  };
  const choice =
    model === 'small'
      ? { index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }
      : { index: 0, delta: { content: 'fine' }, finish_reason: 'stop' };
  const text = `data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`;
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
};

// examples/agents/wrappers_test.go has the same.
describe("calls of an agent's models", () => {
  for (const key of ['', 'key of ']) {
    it(`are wrapped and told of ${key === '' ? 'without' : 'with'} a key`, async () => {
      const { file, grant } = await example('panel');
      const agent = await loadAgent(file, {
        grant,
        model: (_, model) => ({
          model,
          baseURL: 'https://models.test/v1',
          ...(key === '' ? {} : { apiKey: key + model }),
        }),
        host: { fetch: panelists },
      });
      const calls = [];
      const runner = agent.createRunner({
        wrapModel: [
          (call, next) => {
            calls.push(`call ${call.provider} ${call.model} ${call.iteration}`);
            return next(call);
          },
        ],
      });
      runner.observe('modelCallStart', ({ provider, model, iteration }) => {
        calls.push(`start ${provider} ${model} ${iteration}`);
      });
      runner.observe('modelCallEnd', ({ status, provider, model, httpStatus }) => {
        calls.push(`end ${status} ${provider} ${model} ${httpStatus}`);
      });
      const { text, error } = await runner.stream({ message: 'Hi' }).result;
      assert.equal(text, 'fine', String(error));
      assert.deepEqual(calls, [
        'start openai small 0',
        'call openai small 0',
        'end ok openai small 200',
        'start openai large 1',
        'call openai large 1',
        'end ok openai large 200',
      ]);
    });
  }
});

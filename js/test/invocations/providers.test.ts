/**
 * Agents whose models are behind APIs. Go's tests play the same conversations.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isTurncoreError } from '../../src/index.js';
import {
  type Content,
  type Event,
  LlmAgent,
  ParallelAgent,
  textOf,
  type ToolContext,
} from '../../src/entries/sessions.js';
import { cases, common, type Reply, serve } from '../turn/conversations.js';
import { skip } from '../turn/harness.js';
import { lines, Script, stage, text, WHO } from './setup.js';

const MiB = 2 ** 20;

/** The same with an agent's tool: its results are maps, and the arguments of its calls are values, not the model's text. */
function ofAgent(body: unknown): unknown {
  return JSON.parse(
    JSON.stringify(body)
      .replaceAll('4 degrees in Oslo', String.raw`{\"result\":\"4 degrees in Oslo\"}`)
      .replaceAll(String.raw`{\"city\": \"Oslo\"}`, String.raw`{\"city\":\"Oslo\"}`),
  );
}

/** The signatures of an event's parts. */
function signatures({ content }: Event): unknown[] {
  return (content?.parts ?? []).flatMap(({ thoughtSignature }) => thoughtSignature ?? []);
}

describe('models of agents behind an API', { skip }, () => {
  // What a provider wants back with thoughts and calls goes through events, and back to it in the second request.
  for (const c of cases) {
    it(c.name, async () => {
      await serve(c.replies, async (url, requests) => {
        const { runner, load } = await stage({
          agent: new LlmAgent({
            name: 'root',
            instruction: common.system,
            model: {
              ...c.options,
              ...{
                model: c.model,
                provider: c.provider,
                baseURL: url + c.base,
                apiKey: common.key,
              },
            },
            tools: [
              {
                ...common.tool,
                runAsync: (args) => `4 degrees in ${(args as { city: string }).city}`,
              },
            ],
          }),
        });
        const events = await runner.run({ ...WHO, newMessage: common.message });
        assert.deepEqual(
          requests.map(({ body }) => body),
          c.requests.map(ofAgent),
        );
        assert.equal(textOf(events.at(-1)!.content), c.expect.text);
        const stored = (await load()).events;
        assert.deepEqual(
          stored.flatMap(signatures),
          events.filter(({ partial }) => partial !== true).flatMap(signatures),
        );
      });
    });
  }

  it('signs thoughts and calls where the provider does', async () => {
    const signed = cases.filter(({ requests }) =>
      /"(?:thoughtSignature|thought_signature|signature|encrypted_content)":/u.test(
        JSON.stringify(requests.at(-1)),
      ),
    );
    assert.equal(signed.length, 4);
    for (const c of signed) {
      await serve(c.replies, async (url) => {
        const { say } = await stage({
          agent: new LlmAgent({
            name: 'root',
            model: {
              ...c.options,
              ...{ model: c.model, provider: c.provider, baseURL: url + c.base, apiKey: 'k' },
            },
            tools: [{ ...common.tool, runAsync: () => 'cold' }],
          }),
        });
        assert.ok((await say()).flatMap(signatures).length > 0, c.name);
      });
    }
  });

  it('get the data of a message as attachments', async () => {
    const body = JSON.stringify({
      candidates: [{ content: { parts: [{ text: 'A cat.' }] }, finishReason: 'STOP' }],
    });
    const reply: Reply = { type: 'application/json', body };
    await serve([reply, reply], async (baseURL, requests) => {
      const { runner, say } = await stage({
        agent: new LlmAgent({
          name: 'root',
          model: { model: 'm', provider: 'gemini', baseURL, apiKey: 'k', stream: false },
        }),
      });
      const data = (words: string): Uint8Array => new TextEncoder().encode(words);
      const newMessage: Content = {
        parts: [
          { text: 'What are these?' },
          { inlineData: { mimeType: 'image/png', data: data('a picture') } },
          { inlineData: { mimeType: 'audio/wav', data: data('a sound!') } },
          {
            fileData: { fileUri: 'https://files.example/a.pdf', mimeType: 'application/pdf' },
          },
          { fileData: { fileUri: 'https://files.example/b' } },
        ],
      };
      await runner.run({ ...WHO, newMessage });
      await say('Sure?');
      assert.equal(requests.length, 2);
      for (const request of requests) {
        const text = JSON.stringify(request.body);
        for (const part of [
          '"inlineData":{"mimeType":"image/png","data":"YSBwaWN0dXJl"}',
          '"inlineData":{"mimeType":"audio/wav","data":"YSBzb3VuZCE="}',
          String.raw`[image d1 \"image.png\", image/png]`,
          String.raw`What are these?\n[fileData: https://files.example/b]`,
          '"fileData":{"mimeType":"application/pdf","fileUri":"https://files.example/a.pdf"}',
        ]) {
          assert.ok(text.includes(part), `no ${part} in ${text}`);
        }
      }
    });
  });

  // It is the first thing that code of the host runs, or runs beside.
  for (const beside of [false, true]) {
    it(`are asked at once${beside ? ' beside a generator' : ' for a generator'}`, async () => {
      const c = cases[0]!;
      await serve(c.replies.slice(-1), async (url, requests) => {
        const { model: name, provider, options, base } = c;
        const model = new LlmAgent({
          name: 'm',
          model: { ...options, model: name, provider, baseURL: url + base, apiKey: common.key },
        });
        const agent = beside
          ? new ParallelAgent({
              name: 'both',
              subAgents: [
                new Script('c', async function* () {
                  while (requests.length === 0) await new Promise((go) => setTimeout(go, 1));
                  yield text('asked');
                }),
                model,
              ],
            })
          : new Script(
              'c',
              async function* (ctx) {
                for await (const event of model.runAsync(ctx)) yield event;
              },
              [model],
            );
        const { say } = await stage({ agent });
        const whole = (await say()).filter(({ partial }) => partial !== true);
        const answer = `m: ${c.expect.text}`;
        assert.deepEqual(lines(whole), beside ? ['c: asked', answer] : [answer]);
      });
    });
  }

  it('bound the time of tools: the signal fires, the model is told, and late writes are refused', async () => {
    const answer = (message: object): Reply => ({
      type: 'application/json',
      body: JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }),
    });
    const call = (name: string): object => ({
      id: `c-${name}`,
      type: 'function',
      function: { name, arguments: '{}' },
    });
    const replies = [
      answer({ tool_calls: [call('slow'), call('fast')] }),
      answer({ content: 'done' }),
    ];
    await serve(replies, async (baseURL) => {
      let answered = (): void => undefined;
      const open = new Promise<void>((resolve) => (answered = resolve));
      let late: Promise<unknown> | undefined;
      let reason: unknown;
      const slow = {
        name: 'slow',
        description: 'Takes long.',
        async runAsync(_: never, ctx: ToolContext) {
          ctx.state['before'] = 1;
          const { abortSignal } = ctx;
          await new Promise((resolve) => abortSignal.addEventListener('abort', resolve));
          reason = abortSignal.reason;
          late = open.then(() => (ctx.state['after'] = 1));
          return 'late';
        },
      };
      const fast = { name: 'fast', description: 'Is fast.', runAsync: () => 'in time' };
      const { say, load } = await stage({
        agent: new LlmAgent({
          name: 'a',
          model: { model: 'm', baseURL, stream: false, toolTimeoutMs: 1000 },
          tools: [slow, fast],
        }),
      });
      const events = await say();
      answered();
      assert.ok(isTurncoreError(reason, 'E_CHAT_TOOL_TIMEOUT'), String(reason));
      await assert.rejects(late!, (error) => isTurncoreError(error, 'E_CALL_AFTER_END'));
      assert.deepEqual(lines(events.filter(({ partial }) => partial !== true)), [
        'a: slow() fast()',
        'a: slow = {"error":"The tool exceeded its time limit: more than 1000 ms"} fast = {"result":"in time"} {"before":1}',
        'a: done',
      ]);
      assert.deepEqual((await load()).state, { before: 1 });
    });
  });

  // Go's test goes on behind a rewind and with fewer contents, too.
  it('say when a session is more than a request holds, and go on behind a summary', async () => {
    const body = JSON.stringify({
      choices: [{ message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
    });
    const reply: Reply = { type: 'application/json', body };
    await serve([reply, reply], async (baseURL) => {
      const { say, load, service } = await stage({
        agent: new LlmAgent({
          name: 'root',
          model: { model: 'm', provider: 'openai', baseURL, apiKey: 'k', stream: false },
        }),
      });
      await say('x'.repeat(9 * MiB));
      for (const message of ['x'.repeat(9 * MiB), 'hello']) {
        await assert.rejects(say(message), (error) => {
          assert.ok(isTurncoreError(error, 'E_ABI_LIMIT_EXCEEDED'));
          const { limit, max, actual } = error.details as Record<string, unknown>;
          assert.deepEqual([limit, max], ['frame', 16 * MiB]);
          assert.ok((actual as number) > 18 * MiB);
          assert.match(error.message, / a request to a model of \d+ bytes is over /);
          assert.match(error.help ?? '', /docs\/sessions\.md/);
          return true;
        });
      }
      const session = await load();
      const [first, last] = [session.events[0]!.id, session.events.at(-1)!.id];
      await service.appendEvent(session, {
        author: 'system',
        content: { parts: [{ text: 'They said much.' }] },
        actions: { compaction: { first, last } },
      });
      assert.equal(textOf((await say('Can you hear me?')).at(-1)!.content), 'Yes.');
    });
  });
});

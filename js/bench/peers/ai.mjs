/**
 * streamText of the AI SDK, on a model that answers at once: a tool call, then a text in deltas.
 *
 *   node ai.mjs [SAMPLES]
 *
 * Prints its figures as JSON for host/internal/bench/report.
 */
import { stepCountIs, streamText, tool } from 'ai';
import * as testing from 'ai/test';
import { z } from 'zod';
import { sample, versionOf } from './sample.mjs';

const count = Number(process.argv[2] ?? 500);
const MockModel = testing.MockLanguageModelV4 ?? testing.MockLanguageModelV3;
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const finish = (unified) => ({ type: 'finish', finishReason: { unified, raw: unified }, usage });
const begin = { type: 'stream-start', warnings: [] };
const call = {
  type: 'tool-call',
  toolCallId: 'c1',
  toolName: 'add',
  input: JSON.stringify({ a: 1, b: 2 }),
};
const add = tool({
  description: 'Adds two numbers.',
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => a + b,
});

function answer(deltas) {
  const text = Array.from({ length: deltas }, () => ({
    type: 'text-delta',
    id: 't',
    delta: 'a word ',
  }));
  return [
    begin,
    { type: 'text-start', id: 't' },
    ...text,
    { type: 'text-end', id: 't' },
    finish('stop'),
  ];
}

async function turn(parts) {
  let steps = 0;
  const model = new MockModel({
    doStream: async () => ({
      stream: testing.convertArrayToReadableStream(
        steps++ === 0 ? [begin, call, finish('tool-calls')] : parts,
      ),
    }),
  });
  const { fullStream } = streamText({
    model,
    prompt: 'What is 1 + 2?',
    tools: { add },
    stopWhen: stepCountIs(5),
  });
  let deltas = 0;
  for await (const part of fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-delta') deltas++;
  }
  if (steps !== 2 || deltas === 0) throw new Error(`${steps} steps and ${deltas} deltas`);
}

const peers = [];
for (const deltas of [20, 500]) {
  const parts = answer(deltas);
  const took = await sample(Math.ceil(count / (deltas / 20)), () => turn(parts));
  const peer = `ai ${await versionOf('ai')}`;
  const title = `streamText with a tool call and ${deltas} deltas`;
  // Its model needs no parsing, as that of turn-… does not; chat-… parses a response besides.
  const ours = { peer, title, ...took, engine: 'Node' };
  peers.push(
    { ...ours, figure: `turn-${deltas}` },
    { ...ours, figure: `chat-${deltas}`, with: 'chat executor' },
  );
}
console.log(JSON.stringify(peers));

/**
 * The samples of the page "Invocation Lifecycle", with only the import's specifier changed.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Event, EventActions } from '../../src/entries/sessions.js';
import type {
  CallbackContext,
  InvocationContext,
  ToolContext,
} from '../../src/entries/sessions.js';
import { skip } from '../turn/harness.js';
import { answers, calls, KEY, lines, llm, Script, stage, WHO } from './setup.js';

/** What a sample has read. */
const seen: unknown[] = [];

// agent logic
async function* runAsyncImpl(ctx: InvocationContext) {
  // 1) Stage a state change locally and construct an event that carries the delta
  ctx.session.state['status'] = 'processing'; // local visibility (dirty until committed)
  const event1 = new Event({
    invocationId: ctx.invocationId,
    author: ctx.agent.name,
    actions: new EventActions({ stateDelta: { status: 'processing' } }),
    content: { parts: [{ text: 'Starting work...' }] },
    partial: false,
  });

  // 2) Yield event with the delta
  yield event1;
  // --- PAUSE --- Runner persists event1 and applies stateDelta

  // 3) Resume execution – state is now guaranteed committed
  const current = ctx.session.state['status']; // "processing"
  // ... continue
  seen.push(current);
}

// tool logic
// @ts-expect-error -- the sample does not use its parameter
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- as on the page
export async function runAsync(params: any, toolCtx: ToolContext) {
  toolCtx.state['progress'] = 'started'; // local visibility during this invocation
  toolCtx.actions.stateDelta['progress'] = 'started'; // ensure it’s committed with the functionResponse event
  return { ok: true };
}

// callback ➜ tool within the same invocation
async function beforeAgentCallback(cbCtx: CallbackContext) {
  cbCtx.state['field_1'] = 'value_1'; // staged locally
  cbCtx.eventActions.stateDelta['field_1'] = 'value_1'; // will commit when the next non-partial event is persisted
}

// later, during the same invocation, inside a tool
async function runAsyncLater(_params: unknown, toolCtx: ToolContext) {
  const val = toolCtx.state['field_1']; // likely "value_1" (dirty read)
  // ... do work
  return { value: val };
}

describe('the page’s samples', { skip }, () => {
  it('agent logic', async () => {
    seen.length = 0;
    const { say, load } = await stage({ agent: new Script('worker', runAsyncImpl) });
    assert.deepEqual(lines(await say()), ['worker: Starting work... {"status":"processing"}']);
    assert.deepEqual(seen, ['processing']);
    assert.equal((await load()).state['status'], 'processing');
  });

  it('tool logic', async () => {
    const { say, load } = await stage({
      agent: llm('root', answers(calls('MyTool'), 'done'), {
        tools: [{ name: 'MyTool', description: 'Does the work.', runAsync }],
      }),
    });
    assert.deepEqual(lines(await say()), [
      'root: MyTool()',
      'root: MyTool = {"ok":true} {"progress":"started"}',
      'root: done',
    ]);
    assert.equal((await load()).state['progress'], 'started');
  });

  it('callback and tool', async () => {
    const { say } = await stage({
      agent: llm('root', answers(calls('t'), 'done'), {
        beforeAgentCallback,
        tools: [{ name: 't', description: 'Reads.', runAsync: runAsyncLater }],
      }),
    });
    assert.deepEqual(lines(await say()), [
      'root:  {"field_1":"value_1"}',
      'root: t()',
      'root: t = {"value":"value_1"}',
      'root: done',
    ]);
  });

  it('the loop of a runner', async () => {
    const { service, runner } = await stage({ agent: new Script('worker', runAsyncImpl) });
    // What the page's loop does by hand, the runner does.
    const sessionService = service;
    const session = (await sessionService.getSession(KEY))!;
    const invocationContext = runner.runAsync({ ...WHO, newMessage: 'go' });
    for await (const event of invocationContext) assert.ok(!event.partial);
    const mine = new Event({ author: 'me', content: { parts: [{ text: 'by hand' }] } });
    await sessionService.retry(session, (fresh) => sessionService.appendEvent(fresh, mine));
    const { events } = (await sessionService.getSession(KEY))!;
    assert.deepEqual(lines(events).slice(-1), ['me: by hand']);
  });
});

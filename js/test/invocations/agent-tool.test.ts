/**
 * Agents that are tools of other agents.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isTurncoreError } from '../../src/index.js';
import {
  AgentTool,
  type AgentResponse,
  type BaseAgent,
  Runner,
  textOf,
} from '../../src/entries/sessions.js';
import { skip } from '../turn/harness.js';
import { answers, calls, lines, llm, Script, stage, text, WHO } from './setup.js';

function ask(name: string, args: Record<string, unknown>): AgentResponse {
  return { content: { role: 'model', parts: [{ functionCall: { name, args } }] } };
}

function caller(agent: BaseAgent, name: string, ...more: string[]) {
  const model = answers(ask(name, { request: 'how deep?' }), ...more);
  return llm('root', model, { tools: [new AgentTool({ agent })] });
}

describe('agents that are tools', { skip }, () => {
  it('get the request alone, and answer with their last text', async () => {
    const model = answers(calls('look'), 'very');
    const look = { name: 'look', description: 'looks', runAsync: () => ({ ok: true }) };
    const { say, load } = await stage({
      agent: caller(llm('expert', model, { tools: [look] }), 'expert', 'done'),
    });
    const events = await say();
    assert.deepEqual(lines(events), [
      'root: expert()',
      'root: expert = {"result":"very"}',
      'root: done',
    ]);
    assert.deepEqual(model.requests, [
      'user: how deep?',
      'user: how deep? | model: look() | user: look = {"ok":true}',
    ]);
    assert.deepEqual(lines((await load()).events), ['user: hello', ...lines(events)]);
  });

  it('may be generators: they are told the request, and their changes come with the result', async () => {
    const seen: string[] = [];
    const expert = new Script('expert', async function* (ctx) {
      seen.push(textOf(ctx.userContent));
      yield text('one', { actions: { stateDelta: { k: 1, 'temp:t': 2 } } });
      seen.push(String(ctx.session.state['temp:t']), String(ctx.session.events.length));
    });
    const { say, load } = await stage({ agent: caller(expert, 'expert', 'done') });
    assert.deepEqual(lines(await say()), [
      'root: expert()',
      'root: expert = {"result":"one"} {"k":1}',
      'root: done',
    ]);
    assert.deepEqual(seen, ['how deep?', '2', '2']);
    assert.deepEqual({ ...(await load()).state }, { k: 1 });
  });

  it('take a schema of their own, and may give the last word', async () => {
    const model = answers('warm');
    const inputSchema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    } as const;
    const tool = new AgentTool({
      agent: llm('expert', model),
      inputSchema,
      skipSummarization: true,
    });
    const { say } = await stage({
      agent: llm('root', answers(ask('expert', { city: 'Rome' })), { tools: [tool] }),
    });
    const events = await say();
    assert.deepEqual(lines(events), ['root: expert()', 'root: expert = {"result":"warm"}']);
    assert.deepEqual(model.requests, ['user: {"city":"Rome"}']);
    assert.equal(events.at(-1)!.isFinalResponse(), true);
  });

  it('end when the invocation is aborted', async () => {
    const controller = new AbortController();
    let ended = false;
    const expert = new Script('expert', async function* (ctx) {
      try {
        controller.abort(new Error('enough'));
        assert.equal(ctx.abortSignal.aborted, true);
        yield text('nobody gets it');
      } finally {
        ended = true;
      }
    });
    const { runner } = await stage({ agent: caller(expert, 'expert', 'done') });
    await assert.rejects(
      runner.run({ ...WHO, newMessage: 'hi', signal: controller.signal }),
      /enough/,
    );
    assert.equal(ended, true);
  });

  it('cannot wait for an answer from outside', async () => {
    const slow = {
      name: 'slow',
      description: 'waits',
      isLongRunning: true,
      runAsync: () => undefined,
    };
    const { say } = await stage({
      agent: caller(llm('expert', answers(calls('slow')), { tools: [slow] }), 'expert'),
    });
    await assert.rejects(say(), (error) => isTurncoreError(error, 'E_INVALID_AGENT'));
  });

  it('leave the name of the tool that hands over to it, where there is one', async () => {
    const own = { name: 'transfer_to_agent', description: 'a tool', runAsync: () => undefined };
    const { service } = await stage({ agent: llm('other', answers('x')) });
    const run = (subAgents: BaseAgent[]): Promise<unknown> => {
      const agent = llm('root', answers('x'), { tools: [own], subAgents });
      const runner = new Runner({ appName: 'app', agent, sessionService: service });
      return runner.run({ ...WHO, newMessage: 'hi' });
    };
    await run([]);
    await assert.rejects(run([llm('sub', answers('y'))]), (error) => {
      assert.ok(isTurncoreError(error, 'E_INVALID_AGENT'), String(error));
      assert.match(error.message, /agent "root": tools: two have the name "transfer_to_agent"/);
      return true;
    });
  });

  it('are refused with the name of another tool', async () => {
    const expert = { name: 'expert', description: 'a tool', runAsync: () => undefined };
    const agent = llm('root', answers('x'), {
      tools: [expert, new AgentTool({ agent: llm('expert', answers('y')) })],
    });
    const { service } = await stage({ agent: llm('other', answers('x')) });
    const runner = new Runner({ appName: 'app', agent, sessionService: service });
    await assert.rejects(runner.run({ ...WHO, newMessage: 'hi' }), (error) =>
      isTurncoreError(error, 'E_INVALID_AGENT'),
    );
  });
});

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { endLine, needCommand, reproducible, temporaryFolder, turncore } from './turncore.js';

before(needCommand);

/** Conversations with real providers. They lie beside the checkout. */
const folder =
  process.env['TURNCORE_RECORDINGS'] ??
  fileURLToPath(new URL('../../../../../shared/recordings', import.meta.url));

interface Recorded {
  readonly interactions: readonly { readonly response: { readonly body: string } }[];
}

function recordings(): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}

const names = recordings();
const skip =
  names.length === 0 && process.env['CI'] !== 'true'
    ? 'there are no recordings beside the checkout'
    : false;

describe('recorded conversations', { skip }, () => {
  it('are there', (t) => {
    t.diagnostic(`${names.length} recordings`);
    assert.ok(names.length > 0, `${folder} has none`);
  });

  for (const name of names) {
    it(`${name} ends as recorded, twice the same`, async () => {
      const file = join(folder, name);
      const recorded = JSON.parse(readFileSync(file, 'utf8')) as Recorded;
      const args = ['run', '--recording', file, '--json', ...reproducible];
      const [{ status, stdout, stderr }, again] = await Promise.all([
        turncore(args),
        turncore(args),
      ]);
      assert.equal(status, 0, stderr);
      const [lines, others] = [stdout.split('\n'), again.stdout.split('\n')];
      lines.forEach((line, i) => assert.equal(others[i], line, `line ${i + 1} of the log`));
      assert.equal(others.length, lines.length);
      const end = endLine(stdout);
      assert.equal(end.iterations, recorded.interactions.length);
      assert.equal(end.status, name === 'openrouter-midstream-error.json' ? 'nack' : 'ack');
      assert.equal(end.error === null, end.status === 'ack');
      const said = end.messages.filter(({ role }) => role === 'assistant');
      if (end.toolCalls.length === 0 && end.status === 'ack') assert.equal(said.length, 1);
    });
  }
});

describe('turncore run --recording', () => {
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const answer = (...chunks: string[]): object => ({
    status: 200,
    contentType: 'text/event-stream',
    body: `${chunks.join('')}data: [DONE]\n\n`,
  });
  const call = { id: 'c1', type: 'function', function: { name: 'get', arguments: '{"a":1}' } };
  const tools = [
    {
      type: 'function',
      function: { name: 'get', description: 'Gets.', parameters: { type: 'object' } },
    },
  ];
  const history = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'first' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c0', type: 'function', function: { name: 'get', arguments: '{"a":0}' } }],
    },
    { role: 'tool', tool_call_id: 'c0', content: 'zero' },
    { role: 'assistant', content: 'It is zero.' },
    { role: 'user', content: 'second' },
  ];
  const first = { model: 'm', temperature: 0.5, stream: true, messages: history, tools };
  const second = {
    ...first,
    messages: [
      ...history,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
    ],
  };
  const url = 'https://api.example.com/v1/chat/completions';
  const calls = answer(chunk({ tool_calls: [{ index: 0, ...call }] }), chunk({}, 'tool_calls'));
  const says = answer(chunk({ content: 'It is ' }), chunk({ content: 'one.' }), chunk({}, 'stop'));

  async function play(
    ...interactions: [body: object, response: object][]
  ): ReturnType<typeof turncore> {
    const file = join(await temporaryFolder(), 'made.json');
    const list = interactions.map(([body, response]) => ({
      request: { method: 'POST', url, body },
      response,
    }));
    await writeFile(file, JSON.stringify({ name: 'made', interactions: list }));
    return turncore(['run', '--recording', file, '--json', ...reproducible]);
  }

  it('plays a conversation that goes on', async () => {
    const { status, stdout, stderr } = await play([first, calls], [second, says]);
    assert.equal(status, 0, stderr);
    const { messages, toolCalls } = endLine(stdout);
    assert.deepEqual(
      messages.map(({ content }) => content),
      ['first', 'It is zero.', 'second', 'It is one.'],
    );
    assert.deepEqual(
      toolCalls.map(({ results }) => results),
      ['zero', 'one'],
    );
    assert.match(stdout, /"provider":"api\.example\.com"/);
  });

  it('acks after a call that the recording does not answer', async () => {
    const { status, stdout, stderr } = await play([first, calls]);
    assert.equal(status, 0, stderr);
    const { status: end, toolCalls, iterations } = endLine(stdout);
    assert.deepEqual([end, iterations, toolCalls.at(-1)?.results], ['ack', 1, '']);
  });

  it('fails when a request differs', async () => {
    const other = { ...second, temperature: 1 };
    const { status, stdout, stderr } = await play([first, calls], [other, says]);
    assert.equal(status, 1);
    assert.equal(stderr, 'request 1, /temperature: sent 0.5, recorded 1\n');
    assert.equal(endLine(stdout).status, 'ack');
  });

  it('fails when a request is missing', async () => {
    const { status, stderr } = await play([first, says], [second, says]);
    assert.equal(status, 1);
    assert.equal(stderr, '1 requests were sent, 2 are recorded\n');
  });

  it('refuses what is no recording', async () => {
    const file = join(await temporaryFolder(), 'none.json');
    for (const text of [
      '',
      '{',
      '{}',
      '[]',
      '{"interactions":[{}]}',
      '{"interactions":[{"request":{"body":{}},"response":{"status":200}}]}',
    ]) {
      await writeFile(file, text);
      const { status, stderr, stdout } = await turncore(['run', '--recording', file]);
      assert.equal(status, 1, text);
      assert.match(stderr, /^error: .+\n$/);
      assert.equal(stdout, '');
    }
  });
});

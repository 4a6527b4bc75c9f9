/**
 * What a model gets of tools whose results are no text, and what stays on the host.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ArtifactTool,
  ChatExecutor,
  Media,
  MemoryReader,
  SpooledArtifact,
  SpooledJsonArtifact,
  Tokenizable,
  Tool,
  type ToolCall,
} from '../../src/index.js';
import { type ToolCallEvent } from '../../src/entries/events.js';
import { type AnyTool } from '../../src/entries/tools.js';
import { makeRun, skip, testHost } from './harness.js';

/** A model's answer that calls a tool. */
const asks = (id: string, name: string, args: object): object => ({
  message: {
    content: null,
    tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
  },
  finish_reason: 'tool_calls',
});

const done = { message: { content: 'done' }, finish_reason: 'stop' };

interface Request {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools: readonly { readonly function: { readonly name: string } }[];
}

const getTool = (handler: () => unknown): AnyTool =>
  new Tool({ name: 'get', description: 'gets', inputSchema: { type: 'object' }, handler });

/** Runs a turn of a model with these answers and returns what it was asked, and what became of call c1. */
async function converse(tool: AnyTool, answers: readonly object[]) {
  const requests: Request[] = [];
  const answer: typeof fetch = (_input, init) => {
    const body = init?.body as Uint8Array<ArrayBuffer>;
    requests.push(JSON.parse(new TextDecoder().decode(body)) as Request);
    const choices = [answers[requests.length - 1]];
    return Promise.resolve(Response.json({ choices }));
  };
  const stored: unknown[] = [];
  const run = await makeRun(() => undefined, {
    executorCallback: new ChatExecutor({
      baseURL: 'http://127.0.0.1/v1',
      model: 'm',
      trust: 'off',
    }),
    tools: [tool],
    host: await testHost({ fetch: answer }),
    storeToolCallCallback: (_ctx, call: ToolCall) => {
      if (call.id === 'c1') stored.push(call.results);
    },
  });
  await run.runner.run({ systemPrompt: 'test', message: 'get it' });
  assert.ok(run.names.includes('tE(ack)'), run.names.join(' '));
  const reported = run.events
    .filter((e): e is ToolCallEvent => e.event === 'toolCall' && e.isComplete && e.id === 'c1')
    .map((e) => e.results);
  return { requests, stored, reported };
}

const readers =
  'artifact_head, artifact_tail, artifact_grep, artifact_cat, artifact_byte_length, artifact_line_count, artifact_estimate_tokens';
const jsonReaders =
  'artifact_json_type, artifact_json_keys, artifact_json_length, artifact_json_get, artifact_json_filter, artifact_json_slice, artifact_json_pluck';

const handle = (id: string, kind: string, bytes: number, lines: number, tools: string): string =>
  `Artifact ${id} (${kind}, ${bytes} bytes, ${lines} lines). Its text is not shown here. Read it with callId "${id}" and one of: ${tools}.`;

const told = (request: Request): string[] =>
  request.messages.filter((m) => m.role === 'tool').map((m) => m.content);

const photo = (): Media =>
  Media.toolGenerated({
    id: 'p',
    kind: 'image',
    mimeType: 'image/png',
    filename: 'p.png',
    reader: { stream: () => new Blob(['png']).stream(), byteLength: () => 3 },
  });

describe("results of a host's tools, for the chat executor", { skip }, () => {
  it('an artifact: the model gets its handle and reads it, storage and listeners get it', async () => {
    const log = new SpooledArtifact(new MemoryReader('alpha\nbeta\nbanana'));
    const { requests, stored, reported } = await converse(
      getTool(() => Promise.resolve(log)),
      [asks('c1', 'get', {}), asks('c2', 'artifact_grep', { callId: 'c1', pattern: '^b' }), done],
    );
    assert.deepEqual(told(requests[1]!), [handle('c1', 'SpooledArtifact', 17, 3, readers)]);
    const offered = requests[1]!.tools.map((tool) => tool.function.name);
    assert.ok(offered.includes('artifact_grep'), offered.join(' '));
    assert.equal(told(requests[2]!)[1], 'beta\nbanana');
    assert.equal(stored.length, 1);
    assert.equal(stored[0], log);
    assert.equal(reported.length, 1);
    assert.equal(reported[0], log);
  });

  it('a list of artifacts: each has its handle', async () => {
    const text = new SpooledArtifact(new MemoryReader('a'));
    const json = new SpooledJsonArtifact(
      new MemoryReader('[{"a":1},{"a":2}]'),
      {
        byteLength: 17,
        lineCount: 1,
      },
      'json',
    );
    const { requests, stored, reported } = await converse(
      getTool(() => [text, json]),
      [
        asks('c1', 'get', {}),
        asks('c2', 'artifact_json_get', { callId: 'c1#1', path: '$[1].a' }),
        done,
      ],
    );
    assert.deepEqual(told(requests[1]!), [
      `${handle('c1#0', 'SpooledArtifact', 1, 1, readers)}\n${handle('c1#1', 'SpooledJsonArtifact', 17, 1, `${jsonReaders}, ${readers}`)}`,
    ]);
    assert.equal(told(requests[2]!)[1], '[\n  2\n]');
    for (const list of [stored[0], reported[0]] as unknown[][]) {
      assert.deepEqual([list.length, list[0] === text, list[1] === json], [2, true, true]);
    }
  });

  it('media: the model gets a note', async () => {
    const image = photo();
    for (const [result, note] of [
      [image, '[image p "p.png", image/png]'],
      [[image, image], '[image p "p.png", image/png]\n[image p "p.png", image/png]'],
    ] as const) {
      const { requests, stored } = await converse(
        getTool(() => result),
        [asks('c1', 'get', {}), done],
      );
      assert.deepEqual(told(requests[1]!), [note]);
      assert.equal([stored[0]].flat()[0], image);
    }
  });

  it('of an artifact tool: the model gets the text', async () => {
    const log = new SpooledArtifact(new MemoryReader('alpha\nbeta'));
    const tool = new ArtifactTool({
      name: 'get',
      description: 'gets',
      inputSchema: { type: 'object' },
      handler: () => log as never,
    });
    const { requests, stored } = await converse(tool, [asks('c1', 'get', {}), done]);
    assert.deepEqual(told(requests[1]!), ['alpha\nbeta']);
    assert.equal(stored[0], log);
  });

  it('text of a tool that names a class: the model gets a handle', async () => {
    for (const text of [
      '{"a":1}',
      new Tokenizable('{"a":1}'),
      new TextEncoder().encode('{"a":1}'),
    ]) {
      const tool = new Tool({
        name: 'get',
        description: 'gets',
        inputSchema: { type: 'object' },
        artifactConstructor: () => SpooledJsonArtifact,
        handler: () => text,
      });
      const { requests, stored } = await converse(tool, [asks('c1', 'get', {}), done]);
      assert.deepEqual(told(requests[1]!), [
        handle('c1', 'SpooledJsonArtifact', 7, 1, `${jsonReaders}, ${readers}`),
      ]);
      assert.ok(stored[0] instanceof SpooledJsonArtifact);
      assert.equal(await stored[0].asString(), '{"a":1}');
    }
  });

  it('what only looks like an artifact, and other values, are text', async () => {
    for (const [result, text] of [
      [[1, 'SpooledArtifact', 5, 1, ''], '[1,"SpooledArtifact",5,1,""]'],
      [[], '[]'],
      [new Tokenizable(() => 'rendered'), 'rendered'],
      [undefined, 'null'],
    ] as const) {
      const { requests, stored, reported } = await converse(
        getTool(() => result),
        [asks('c1', 'get', {}), done],
      );
      assert.deepEqual(told(requests[1]!), [text]);
      assert.equal(String(stored[0]), text);
      assert.equal(reported[0], text);
    }
  });

  it('a list of both is a value, told by their metadata', async () => {
    const json = new SpooledJsonArtifact(new MemoryReader('{}'), undefined, 'json');
    const { requests } = await converse(
      getTool(() => [json, photo()]),
      [asks('c1', 'get', {}), done],
    );
    const list = JSON.parse(told(requests[1]!)[0]!) as object[];
    assert.deepEqual(list[0], { artifact: 'SpooledJsonArtifact', form: 'json' });
    assert.deepEqual(
      Object.keys(list[1]!),
      Object.keys(photo().toJSON()).filter((k) => k !== 'source'),
    );
  });
});

/**
 * Agents with their grants: what is refused at load, and what a grant enforces.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';

import { requireSame } from '../../src/agents/manifest.js';
import { namesOnly, routed } from '../../src/agents/route.js';
import {
  type AgentOptions,
  type Asks,
  type Grant,
  loadAgent,
  type Manifest,
  readManifest,
} from '../../src/entries/agents.js';
import { isTurncoreError, type TurncoreError } from '../../src/errors.js';
import { fetchTool, memoryStore, type ModelEngine, Tool } from '../../src/index.js';

const core = new Uint8Array(
  await readFile(new URL('../../../dist/turncore.wasm', import.meta.url)),
);
const empty: Manifest = {
  manifest: 1,
  name: 'research',
  version: '1.4.0',
  description: 'Reads and sums up.',
  turncore: '',
  imports: importsOf(core),
  tools: [],
  options: null,
  executor: false,
  middleware: [],
  asks: {},
};

function importsOf(file: Uint8Array<ArrayBuffer>): string[] {
  const list = WebAssembly.Module.imports(new WebAssembly.Module(file));
  return [...new Set(list.map(({ module, name }) => `${module}.${name}`))].sort();
}

/** A number in LEB128. */
function leb(n: number): number[] {
  return n < 0x80 ? [n] : [(n & 0x7f) | 0x80, ...leb(n >>> 7)];
}

/** A file with a manifest. */
function file(manifest: unknown, module: Uint8Array = core): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(JSON.stringify(manifest));
  const name = new TextEncoder().encode('turncore.agent');
  const body = [...leb(name.length), ...name, ...text];
  return Uint8Array.from([...module, 0, ...leb(body.length), ...body]);
}

/** A file that asks for something. */
const asking = (asks: Asks): Uint8Array<ArrayBuffer> => file({ ...empty, asks });

async function refused(
  module: Uint8Array<ArrayBuffer>,
  options: AgentOptions = {},
): Promise<TurncoreError> {
  let error: unknown;
  await assert.rejects(loadAgent(module, options), (thrown) => ((error = thrown), true));
  assert.ok(isTurncoreError(error), String(error));
  return error;
}

const stores = { notes: memoryStore(), history: memoryStore(), other: memoryStore() };

const granting = (grant: Omit<Grant, 'agent'>): Grant => ({ agent: 'research', ...grant });

const spin = {
  name: 'spin',
  description: 'Spins.',
  inputSchema: { type: 'object' },
  confirm: false,
};

const tool = (name: string): Tool =>
  new Tool({ name, description: 'a tool', inputSchema: { type: 'object' }, handler: () => 'fine' });

describe('loadAgent refuses', () => {
  const header = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  const cases: [string, Uint8Array<ArrayBuffer>, AgentOptions, string, RegExp][] = [
    ['no Wasm', Uint8Array.of(1, 2, 3), {}, 'E_INVALID_MODULE', /no WebAssembly/],
    ['half a file', core.slice(0, core.length / 2), {}, 'E_INVALID_MODULE', /malformed/],
    ['no manifest', header, {}, 'E_AGENT_MANIFEST', /turncore\.agent/],
    ['two manifests', file(empty, file(empty)), {}, 'E_AGENT_MANIFEST', /two sections/],
    [
      'no Turncore module',
      file({ ...empty, imports: [] }, header),
      {},
      'E_INVALID_MODULE',
      /turncore_step/,
    ],
    ['too much', file(empty), { maxBytes: 1000 }, 'E_AGENT_TOO_LARGE', /1000/],
    [
      'other imports',
      file({ ...empty, imports: ['env.exec'] }),
      {},
      'E_AGENT_MANIFEST',
      /`imports` differs/,
    ],
    [
      'parts that the module does not bring',
      file({ ...empty, executor: true }),
      {},
      'E_AGENT_MANIFEST',
      /brings none/,
    ],
    [
      'an unknown field of the grant',
      file(empty),
      { grant: { agent: 'research', tool: ['a'] } as Grant },
      'E_AGENT_GRANT',
      /`tool` is unknown/,
    ],
    [
      'what the grant lacks, all at once',
      asking({
        http: [{ origin: 'https://a.example', why: 'to read' }],
        tools: [{ name: 'mail', why: 'to send' }],
      }),
      {},
      'E_AGENT_NOT_GRANTED',
      /requests to https:\/\/a\.example \(to read\); the tool mail \(to send\)/,
    ],
    [
      'what the program lacks',
      file(empty),
      {
        grant: granting({
          tools: ['mail'],
          stores: ['notes'],
          models: { small: 'openai/x' },
          http: { origins: ['https://a.example'] },
          credentials: [
            { name: 'k', origins: ['https://a.example'], from: { env: 'TURNCORE_NO_SUCH' } },
          ],
        }),
      },
      'E_AGENT_GRANT',
      /`tools\[0\]`.*`stores\[0\]`.*`models\.small`.*`credentials\[0\]\.from`: the variable TURNCORE_NO_SUCH/,
    ],
    [
      'engines of one name',
      file(empty),
      {
        grant: granting({ models: { a: 'x/one', b: 'x/two' } }),
        model: () => ({ name: 'same', generate: () => [] }) as unknown as ModelEngine,
      },
      'E_AGENT_GRANT',
      /`models\.b`: another of its models has the name same/,
    ],
    [
      'two stores without a choice',
      file(empty),
      { grant: granting({ stores: ['notes', 'history'] }), stores },
      'E_AGENT_GRANT',
      /`stores`: the option store must say which of notes, history keeps the conversations/,
    ],
    [
      'a store that is not granted',
      file(empty),
      { grant: granting({ stores: ['notes', 'history'] }), stores, store: 'other' },
      'E_AGENT_GRANT',
      /`stores`: the option store says other, which is not among them/,
    ],
  ];
  const model = { models: { small: 'openai/x' } };
  const key = {
    http: { origins: ['https://a.example'] },
    credentials: [{ name: 'k', origins: ['https://a.example'], from: { env: 'K' } }],
  };
  const wrong = (options: object): AgentOptions => options;
  cases.push(
    [
      'an unknown option',
      file(empty),
      wrong({ grants: {} }),
      'E_INVALID_VALUE',
      /`grants`.*`grant`/,
    ],
    [
      'options of the wrong kind, all at once',
      file(empty),
      wrong({ tools: {}, model: {}, secret: 's', fuel: 5, maxBytes: NaN }),
      'E_INVALID_VALUE',
      /`tools` must be.*`model` must be.*`secret` must be.*`fuel` must be.*`maxBytes` must be/,
    ],
    [
      'an unknown bound of fuel',
      file(empty),
      wrong({ fuel: { steps: 5 } }),
      'E_INVALID_TURN_RUNNER_CONFIG',
      /`fuel\.steps`.*`step`/,
    ],
    [
      'stores for an agent in a worker',
      file(empty),
      wrong({ worker: () => undefined, stores: {} }),
      'E_INVALID_VALUE',
      /`stores` is not a known field/,
    ],
    ...Object.entries({
      throws: [(): never => assert.fail('no key'), /`models\.small`: no key/],
      'returns a promise': [() => Promise.resolve({ model: 'x' }), /`models\.small`:.*promise/],
      'returns a text': [() => 'x', /`models\.small`: .*must return an object/],
      'returns null': [() => null, /`models\.small`: the program has no model openai\/x/],
    }).map(([name, [make, text]]): (typeof cases)[number] => [
      `a model that ${name}`,
      file(empty),
      wrong({ grant: granting(model), model: make }),
      'E_AGENT_GRANT',
      text as RegExp,
    ]),
    ...Object.entries({
      throws: [(): never => assert.fail('no vault'), /`credentials\[0\]\.from`: no vault/],
      'returns a promise': [() => Promise.resolve('s'), /`credentials\[0\]\.from`:.*a text/],
      'returns null': [() => null, /`credentials\[0\]\.from`: the program has no such secret/],
    }).map(([name, [secret, text]]): (typeof cases)[number] => [
      `a secret that ${name}`,
      file(empty),
      wrong({ grant: granting(key), secret }),
      'E_AGENT_GRANT',
      text as RegExp,
    ]),
    [
      'a credential with the name of models’ keys',
      file(empty),
      {
        grant: granting({ ...key, credentials: [{ ...key.credentials[0]!, name: 'model' }] }),
        secret: () => 's',
      },
      'E_AGENT_GRANT',
      /`credentials\[0\]\.name`: it is the name of a model's own key/,
    ],
    [
      'a tool that the agent brings itself',
      file({ ...empty, tools: [spin] }),
      { grant: granting({ tools: ['spin'] }), tools: [tool('spin')] },
      'E_AGENT_GRANT',
      /`tools\[0\]`: the agent brings a tool spin itself/,
    ],
    [
      'two tools of one name',
      file(empty),
      { grant: granting({ tools: ['mail'] }), tools: [tool('mail'), tool('mail')] },
      'E_AGENT_GRANT',
      /`tools\[0\]`: the program has more than one tool mail/,
    ],
    [
      'a short secret',
      file(empty),
      { grant: granting(key), secret: () => ' 1234567 ' },
      'E_AGENT_GRANT',
      /`credentials\[0\]\.from`: the secret has less than 8 bytes/,
    ],
    [
      'a secret of two lines',
      file(empty),
      { grant: granting(key), secret: () => '12345678\n12345678' },
      'E_AGENT_GRANT',
      /`credentials\[0\]\.from`: the secret has a character that no header may have/,
    ],
    [
      'no tool where one is meant',
      file(empty),
      wrong({ grant: granting({ tools: ['mail'] }), tools: [null] }),
      'E_AGENT_GRANT',
      /`tools\[0\]`: the program has no tool mail/,
    ],
    [
      'options of an agent that has none',
      file(empty),
      { options: { a: 1 } },
      'E_INVALID_VALUE',
      /options: the agent research has none/,
    ],
  );
  for (const [name, module, options, code, text] of cases) {
    it(name, async () => {
      const error = await refused(module, options);
      assert.equal(error.code, code, String(error));
      assert.match(error.message, text);
    });
  }

  it('a manifest that says something else than the module', () => {
    const { turncore: _, imports: __, ...said } = empty;
    requireSame(empty, JSON.stringify(said));
    const lie = { ...empty, asks: { log: 5 } };
    assert.throws(() => requireSame(lie, JSON.stringify(said)), /`asks` differs/);
    assert.throws(() => requireSame(empty, '[]'), /no JSON object/);
    assert.throws(() => requireSame(empty, '{}'), /`asks` differs.*`tools` differs/);
  });
});

describe('a module without an agent inside', () => {
  it('needs an executor', async () => {
    const agent = await loadAgent(file(empty));
    assert.throws(() => agent.createRunner(), {
      code: 'E_INVALID_TURN_RUNNER_CONFIG',
      message:
        /`executor` must be given: the module has no agent inside, and its grant names no model/,
    });
  });

  it('refuses settings that are none, and names those of a wrong kind', async () => {
    const agent = await loadAgent(file(empty));
    const code = 'E_INVALID_TURN_RUNNER_CONFIG';
    for (const none of [null, 5, 'settings', [], () => 5]) {
      assert.throws(() => agent.createRunner(none as never), {
        code,
        message: /must be an object/,
      });
    }
    const executor = (): void => undefined;
    const wrong = { executor, tools: 5 } as never;
    assert.throws(() => agent.createRunner(wrong), { code, message: /`tools` must be a list/ });
    assert.throws(() => agent.createRunner({ executor: null } as never), {
      code,
      message: /`executor` must be given/,
    });
    for (const none of [null, 5, 'options']) {
      const refused = { code: 'E_INVALID_VALUE', message: /must be an object/ };
      await assert.rejects(loadAgent(file(empty), none as never), refused);
    }
  });

  it('is told what is wrong with its model, its settings and its input', async () => {
    for (const [given, says] of [
      [{ baseURL: 'nonsense' }, /`baseURL` must be/],
      [{ provider: 'acme' }, /`provider` must be one of/],
    ] as const) {
      const agent = await loadAgent(asking({ models: [{ name: 'small', why: '' }] }), {
        grant: granting({ models: { small: 'openai/x' } }),
        model: () => ({ model: 'x', ...given }) as never,
      });
      const { error } = await agent.createRunner().stream({ message: 'Hi' }).result;
      assert.ok(isTurncoreError(error, 'E_CHAT_INVALID_OPTIONS'), String(error));
      assert.match(error.message, says);
      assert.throws(() => agent.createRunner({ host: {} } as never), /`host` cannot be given/);
      for (const input of [undefined, null, 'Hi', 5]) {
        const code = 'E_INVALID_TURN_CONTEXT';
        assert.throws(() => agent.createRunner().stream(input as never), { code });
        await assert.rejects(agent.createRunner().run(input as never), { code });
      }
    }
  });

  it('calls the first model that it asks for', async () => {
    const why = 'to answer';
    const models = [
      { name: 'main', why },
      { name: 'small', why },
    ];
    const answer = (_: unknown, init?: RequestInit): Promise<Response> => {
      const key = new Headers(init?.headers).get('authorization');
      const content = `with the key: ${key === 'Bearer key of large'}`;
      const data = JSON.stringify({ choices: [{ index: 0, delta: { content } }] });
      const headers = { 'content-type': 'text/event-stream' };
      return Promise.resolve(new Response(`data: ${data}\n\ndata: [DONE]\n\n`, { headers }));
    };
    const agent = await loadAgent(asking({ models }), {
      grant: granting({ models: { main: 'openai/large', small: 'openai/small' } }),
      model: (_, name) => ({
        model: name,
        baseURL: 'http://models.test/v1',
        apiKey: `key of ${name}`,
      }),
      host: { fetch: answer },
    });
    const { text } = await agent.createRunner().stream({ message: 'Hi' }).result;
    assert.equal(text, 'with the key: true');
  });
});

describe('a manifest', () => {
  it('is read from bytes and from a compiled module', () => {
    const bytes = file(empty);
    assert.deepEqual(readManifest(bytes), empty);
    assert.deepEqual(readManifest(new WebAssembly.Module(bytes)), empty);
  });
});

describe('the store of conversations', () => {
  for (const [granted, store, keeps] of [
    [[], undefined, undefined],
    [['notes'], undefined, 'notes'],
    [['notes'], 'notes', 'notes'],
    [['notes', 'history'], 'history', 'history'],
  ] as const) {
    it(`is ${keeps ?? 'none'} of [${granted.join(' ')}] where the option says ${store}`, async () => {
      const own = { notes: memoryStore(), history: memoryStore() };
      const grant = granting({ stores: granted });
      const agent = await loadAgent(file(empty), { grant, stores: own, store });
      const runner = agent.createRunner({ executor: (ctx) => ctx.ack() });
      await runner.stream({ message: 'Hi', sessionId: 's' }).result;
      for (const [name, each] of Object.entries(own)) {
        const { messages } = await each.load('s');
        assert.equal(messages.length > 0, name === keeps, name);
      }
    });
  }
});

describe('the quota of a turn', () => {
  const quotas = { steps: 50, frames: 100, effects: 20, bytes: 2000, tokens: 5500 };
  for (const [name, most] of Object.entries(quotas)) {
    it(`bounds ${name}`, async () => {
      const agent = await loadAgent(file(empty), { grant: granting({ quota: { [name]: most } }) });
      let iterations = 0;
      const runner = agent.createRunner({
        bounds: { maxIterations: 200 },
        executor: (ctx, helpers) => {
          iterations = ctx.iteration;
          helpers.reportGenerationStats({ promptTokens: 900, completionTokens: 100 });
        },
      });
      const { status, error } = await runner.stream({ message: 'Hi' }).result;
      assert.equal(status, 'aborted');
      assert.ok(isTurncoreError(error), String(error));
      assert.equal(error.code, 'E_AGENT_LIMIT');
      assert.deepEqual(error.details, { limit: name, most });
      assert.ok(iterations >= 1 && iterations < 60, String(iterations));
    });
  }

  // host/agents/quota_test.go has the same turns.
  it('bounds the last step', async () => {
    let ended = false;
    for (let steps = 1; steps < 20 && !ended; steps++) {
      const agent = await loadAgent(file(empty), { grant: granting({ quota: { steps } }) });
      const stream = agent.createRunner({ executor: (ctx) => ctx.ack() }).stream({ message: 'Hi' });
      const ends: unknown[] = [];
      for await (const event of stream) if ('status' in event) ends.push(event.status);
      const { status, error } = await stream.result;
      ended = status === 'ack';
      if (ended) {
        assert.equal(steps, 6);
        break;
      }
      assert.equal(status, 'aborted');
      assert.ok(isTurncoreError(error, 'E_AGENT_LIMIT'), String(error));
      assert.deepEqual(error.details, { limit: 'steps', most: steps });
      assert.ok(
        ends.every((end) => end === 'aborted'),
        ends.join(' '),
      );
    }
    assert.ok(ended);
  });

  it('leaves a turn within it alone', async () => {
    const agent = await loadAgent(file(empty));
    const runner = agent.createRunner({ executor: (ctx) => ctx.ack() });
    for (let n = 0; n < 3; n++) {
      const { status } = await runner.stream({ message: 'Hi' }).result;
      assert.equal(status, 'ack');
    }
  });

  it('ends the instance of a turn that goes on', async () => {
    const agent = await loadAgent(file(empty), { grant: granting({ quota: { frames: 10 } }) });
    const runner = agent.createRunner({
      executor: (_, helpers) => {
        for (let n = 0; n < 3000; n++) helpers.log.info({ kind: 'x', message: 'y' });
      },
    });
    const { status, error } = await runner.stream({ message: 'Hi' }).result;
    assert.equal(status, 'failed');
    assert.match(String(error), /E_INSTANCE_FAILED.*quota of frames/);
  });

  // host/agents/quota_test.go has the same turns with the same events.
  const log =
    'turnStart dispatchStart iterationStart generationStats toolCall toolExecutionStart toolCall toolExecutionStart ' +
    'toolExecutionEnd toolCall toolExecutionEnd toolCall iterationEnd dispatchEnd turnEnd';
  for (const [effects, calls] of [
    [5, 2],
    [4, 0],
  ] as const) {
    it(`of ${effects} effects: ${calls} of two calls in one step start`, async () => {
      let started = 0;
      const tool = (name: string): Tool => {
        const handler = (): string => (started++, 'fine');
        return new Tool({ name, description: 'a tool', inputSchema: { type: 'object' }, handler });
      };
      const engine: ModelEngine = {
        name: 'script',
        capabilities: { tools: 'native' },
        async *generate() {
          yield { toolCall: { id: 'call-1', name: 'a', arguments: '{}' } };
          yield { toolCall: { id: 'call-2', name: 'b', arguments: '{}' } };
          yield { finish: 'tool_calls' };
        },
      };
      const full = await readFile(new URL('../../../dist/turncore-full.wasm', import.meta.url));
      const asks = { models: [{ name: 'default', why: '' }] };
      const agent = await loadAgent(file({ ...empty, asks }, full), {
        grant: granting({ quota: { effects }, models: { default: 'a/b' } }),
        model: () => ({ engine, parallel: 2 }),
      });
      const stream = agent.createRunner({ tools: [tool('a'), tool('b')] }).stream({ message: 'x' });
      const names: string[] = [];
      for await (const { event } of stream) names.push(event);
      const { status, error } = await stream.result;
      assert.equal(status, 'aborted');
      assert.ok(isTurncoreError(error, 'E_AGENT_LIMIT'), String(error));
      assert.equal(started, calls);
      assert.equal(names.join(' '), log);
    });
  }
});

describe('the log of a turn', () => {
  for (const granted of [0, 1000]) {
    it(`is cut at ${granted} bytes`, async () => {
      const grant = granting(granted > 0 ? { log: { bytesPerTurn: granted } } : {});
      const agent = await loadAgent(file(empty), { grant });
      const runner = agent.createRunner({
        executor: (ctx, helpers) => {
          for (let n = 0; n < 50; n++) {
            helpers.log.info({ kind: 'test', message: 'x'.repeat(80) + String(n) });
          }
          ctx.ack();
        },
      });
      const lines: string[] = [];
      for await (const event of runner.stream({ message: 'Hi' })) {
        if (event.event === 'log') lines.push(event.message);
      }
      assert.equal(lines.at(-1), `the log of this turn is cut: its grant allows ${granted} bytes`);
      assert.ok(lines.join('').length <= granted + 100);
      assert.ok(granted === 0 || lines.length > 5);
    });
  }
});

describe('requests of an agent', () => {
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) server.close();
  });
  async function serve(
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<string> {
    const server = createServer(answer);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('go to granted origins, at each redirect', async () => {
    let aside = 0;
    const elsewhere = await serve((_, response) => {
      aside++;
      response.end('aside');
    });
    const origin = await serve((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: elsewhere });
      response.end('here');
    });
    const web = fetchTool({ allow: [origin, elsewhere] });
    const full = new Uint8Array(
      await readFile(new URL('../../../dist/turncore-full.wasm', import.meta.url)),
    );
    const asks = { tools: [{ name: 'fetch', why: 'to read' }] };
    const agent = await loadAgent(file({ ...empty, imports: importsOf(full), asks }, full), {
      grant: granting({ tools: ['fetch'], http: { origins: [origin], privateAddresses: true } }),
      tools: [
        web,
        new Tool({
          name: 'other',
          description: 'Another one.',
          inputSchema: { type: 'object' },
          handler: () => 1,
        }),
      ],
    });
    const seen: unknown[] = [];
    const runner = agent.createRunner({
      executor: async (ctx) => {
        assert.deepEqual(
          ctx.tools.all().map(({ name }) => name),
          ['fetch'],
        );
        for (const url of [origin, elsewhere, `${origin}/away`]) {
          try {
            seen.push(await web.executor(ctx)({ url }));
          } catch (error) {
            seen.push(((error as Error).cause as { code: string }).code);
          }
        }
        ctx.ack();
      },
    });
    const { status, error } = await runner.stream({ message: 'Hi' }).result;
    assert.equal(status, 'ack', String(error));
    assert.match(String(seen.shift()), /here$/);
    assert.deepEqual(seen, ['E_HTTP_NOT_ALLOWED', 'E_HTTP_NOT_ALLOWED']);
    assert.equal(aside, 0);
  });

  it('with the key of a model ask that model for an answer', async () => {
    const base = new URL('https://api.example/v1');
    const key = { header: 'authorization', value: 'Bearer opensesame', origins: [base.origin] };
    const sent: string[] = [];
    const send = routed(
      (input) => {
        sent.push(new URL(input as URL).pathname);
        return Promise.resolve(new Response('ok'));
      },
      ['https://b.example'],
      [{ base, model: 'small', key }],
    );
    const headers = [['authorization', key.value]] as [string, string][];
    const ask = async (path: string, body: string, own = headers): Promise<unknown> => {
      const init = { method: 'POST', headers: own, body: new TextEncoder().encode(body) };
      try {
        return (await send(new URL(path, 'https://api.example'), init)).status;
      } catch (error) {
        return (error as TurncoreError).code;
      }
    };
    const no = 'E_HTTP_NOT_ALLOWED';
    assert.equal(await ask('/v1/chat/completions', '{"model":"small"}'), 200);
    assert.equal(await ask('/v1/models/small:generateContent', '{}'), 200);
    assert.equal(await ask('/v1/models/large:generateContent', '{}'), no);
    assert.equal(await ask('/v1/chat/completions', '{"model":"large"}'), no);
    assert.equal(await ask('/v1/files', '{"model":"small"}'), no);
    assert.equal(await ask('/v2/chat/completions', '{"model":"small"}'), no);
    assert.equal(await ask('/v1/chat/completions', '{"model":"small"}', []), no);
    assert.equal(await ask('https://b.example/v1/chat/completions', '{"model":"small"}'), no);
    assert.equal(await ask('https://b.example/x', '{}', []), 200);
    assert.deepEqual(sent, ['/v1/chat/completions', '/v1/models/small:generateContent', '/x']);
  });

  it('name one model only', () => {
    const names = (text: string): boolean => namesOnly(new TextEncoder().encode(text), 'small');
    assert.ok(names('{"model":"small"}'));
    assert.ok(
      names('{"a":{"model":"large"},"b":["model",{}],"model" : "sm\\u0061ll","c":"\\"model\\":"}'),
    );
    const long = JSON.stringify('\\"x'.repeat(4 << 20));
    assert.ok(names(`{"messages":[${long}],"a\\\\":"model\\"","model":"small","text":${long}}`));
    assert.ok(!names(`{"messages":[${long}],"model":"large"}`));
    for (const text of [
      '{"model":"large","model":"small"}',
      '{"model":"small","MODEL":"large"}',
      '{"model":"small","mod\\u0065l":"large"}',
      '{"model":["small"]}',
      '{"model":{"model":"small"}}',
      '{"a":{"model":"small"}}',
      '["model","small"]',
      '{}',
      '{"model":"small"',
    ]) {
      assert.ok(!names(text), text);
    }
  });
});

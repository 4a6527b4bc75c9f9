/**
 * The tool fetch: what it goes to, what it answers, and what it makes of the rest.
 */
import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';

import {
  createRunner,
  type DispatchExecutorFn,
  fetchTool,
  memoryStore,
  Retrievable,
  SpooledArtifact,
} from '../../src/index.js';
import { type FetchArgs, type FetchOptions } from '../../src/entries/tools.js';
import { codeOf, coreModule, fullModule, skip, testHost } from './harness.js';

/** An answer of the server. */
type Page = (response: ServerResponse, said: string) => void;

const text =
  (contentType: string, body: string, status = 200): Page =>
  (response) =>
    void response.writeHead(status, { 'content-type': contentType }).end(body);
const redirect =
  (location: string, status = 302): Page =>
  (response) =>
    void response.writeHead(status, { location }).end();

const pages: Record<string, Page> = {
  '/docs/page': text(
    'text/html; charset=utf-8',
    '<title>T</title><h1>Head</h1><p>See <a href="../x?a=1">this</a>.<script>no</script>',
  ),
  '/docs/long': text('text/plain', `${'a line of text\n'.repeat(2000)}the needle\n`),
  '/docs/image': text('image/png', 'PNG'),
  '/docs/echo': (response, said) => text('text/plain', said)(response, said),
  '/docs/missing': text('text/html', '<p>no such <b>page</b>', 404),
  '/docs/slow': (response) => void response.writeHead(200).write('begins'),
  '/docs/moved': redirect('page'),
  '/docs/post': redirect('echo', 303),
  '/docs/loop': redirect('loop', 301),
  '/docs/out': redirect('http://elsewhere.invalid/x'),
  '/docs/up': redirect('/secret'),
};

describe('fetchTool', { skip }, () => {
  let server: Server;
  let url = '';

  before(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (part: Buffer) => (body += part.toString()));
      request.on('end', () => {
        const page = pages[request.url!] ?? text('text/plain', 'none', 500);
        const { 'content-type': type = '', cookie = '' } = request.headers;
        page(response, `${request.method!} ${type} "${body}" cookie="${cookie}"`);
      });
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Runs a turn with a fetch tool, by the real clock. */
  async function withTool(
    options: FetchOptions,
    use: (call: (args: FetchArgs) => Promise<string>) => Promise<void>,
  ): Promise<void> {
    const tool = fetchTool(options);
    const executor: DispatchExecutorFn = async (ctx) => {
      await use((args) => tool.executor(ctx)(args));
      ctx.ack();
    };
    const host = await testHost({ module: await fullModule(), clock: Date.now });
    const { status, error } = await createRunner({ executor, tools: [tool], host }).stream({
      message: 'go',
    }).result;
    assert.equal(status, 'ack', String(error));
  }

  it('answers with the text of pages, behind redirects too', async () => {
    const options: FetchOptions = { allow: [`${url}/docs`], methods: ['GET', 'HEAD', 'POST'] };
    await withTool(options, async (call) => {
      const page = `${url}/docs/page (text/html)\n\nTitle: T\n\n# Head\n\nSee [this](${url}/x?a=1).`;
      assert.equal(await call({ url: `${url}/docs/page#top` }), page);
      assert.equal(await call({ url: `${url}/docs/moved` }), page);
      assert.match(await call({ url: `${url}/docs/page`, method: 'HEAD' }), /\(text\/html\)\n\n/);
      const posted = { method: 'POST', body: 'x', contentType: 'text/x' } as const;
      const echo = await call({ url: `${url}/docs/echo`, ...posted });
      assert.match(echo, /POST text\/x "x" cookie=""$/);
      assert.match(await call({ url: `${url}/docs/post`, ...posted }), /GET {2}"" cookie=""$/);
    });
  });

  it('says what is wrong with the rest', async () => {
    await withTool({ allow: [`${url}/docs`], redirects: 3 }, async (call) => {
      for (const [path, wanted] of [
        ['/docs/missing', 'answered with status 404: no such page'],
        ['/docs/image', 'is image/png, not text'],
        ['/docs/loop', 'redirects once more than 3 times'],
        ['/docs/out', 'redirects to http://elsewhere.invalid/x is not allowed'],
        ['/docs/up', `redirects to ${url}/secret is not allowed`],
        ['/secret', `is not allowed, but what begins with one of these: ${url}/docs`],
        ['/docs/../secret', 'is not allowed'],
        ['/docs/..%2fsecret', 'is not allowed'],
      ] as const) {
        await assert.rejects(call({ url: url + path }), (error: Error) => {
          assert.equal(codeOf(error), 'E_TOOL_DOWNSTREAM_ERROR');
          assert.equal(codeOf(error.cause), 'E_TOOL_FETCH');
          assert.ok((error.cause as Error).message.includes(wanted), String(error.cause));
          return true;
        });
      }
      await assert.rejects(call({ url, method: 'POST' }), { code: 'E_INVALID_TOOL_ARGS' });
    });
  });

  it('gives up a page that takes too long', async () => {
    await withTool({ allow: [url], timeoutMs: 300 }, async (call) => {
      await assert.rejects(call({ url: `${url}/docs/slow` }), /took longer than 300 ms/);
    });
  });

  it('keeps a long text as a document, or cuts it off', async () => {
    const tool = fetchTool({ allow: [url], maxInline: 4096 });
    const store = memoryStore();
    let id = '';
    const runner = createRunner({
      store,
      tools: [tool],
      host: await testHost({ module: await fullModule() }),
      executor: async (ctx) => {
        if (ctx.iteration === 0) {
          const answer = await tool.executor(ctx)({ url: `${url}/docs/long` });
          id = /30011 bytes of text\. They are in the document "([^"]+)"/.exec(answer)![1]!;
          return;
        }
        const found = [...ctx.turnRetrievables].find((r) => r.id === id)!;
        assert.ok(found instanceof Retrievable && found.content instanceof SpooledArtifact);
        assert.deepEqual(
          [found.trustTier, found.source, found.kind],
          ['third-party-public', `${url}/docs/long`, 'text/plain'],
        );
        const grep = ctx.tools.get('artifact_grep')!.executor(ctx);
        assert.equal(await grep({ callId: id, pattern: 'needle' }), 'the needle');
        ctx.ack();
      },
    });
    const { status, error } = await runner.stream({ message: 'go' }).result;
    assert.equal(status, 'ack', String(error));
    await withTool({ allow: [url], maxInline: 20, cut: true }, async (call) => {
      const cut = `${url}/docs/long (text/plain), cut off\n\na line of text\na lin`;
      assert.equal(await call({ url: `${url}/docs/long` }), cut);
    });
  });

  it('is described with what it may do, and refuses what makes no sense', async () => {
    const tool = fetchTool({ allow: ['https://a.test', 'https://b.test/x'] });
    assert.equal(
      tool.description,
      'Fetches a page or a file from the web as text. The address must begin with one of these: https://a.test, https://b.test/x.',
    );
    assert.deepEqual(Object.keys(tool.jsonSchema['properties'] as object), ['url', 'method']);
    const posting = fetchTool({ allow: ['https://a.test'], methods: ['POST'] });
    assert.deepEqual(Object.keys(posting.jsonSchema['properties'] as object), [
      'url',
      'method',
      'body',
      'contentType',
    ]);
    for (const allow of [undefined, [], '*', ['']]) {
      assert.throws(() => fetchTool({ allow: allow as never }), {
        code: 'E_INVALID_INITIAL_TOOL_VALUE',
      });
    }
    const unknown = { allow: ['https://a.test'], maxRedirects: 0 };
    assert.throws(() => fetchTool(unknown), {
      code: 'E_INVALID_INITIAL_TOOL_VALUE',
      message: /`maxRedirects` is not a known option/,
    });
    const mistyped = { allow: ['https://a.test'], maxByte: 1 };
    assert.throws(() => fetchTool(mistyped), {
      message: /`maxByte` is not a known option; did you mean `maxBytes`\?/,
    });
    const run = async (options: FetchOptions, module = fullModule()): Promise<string> => {
      const runner = createRunner({
        executor: (ctx) => ctx.ack(),
        tools: [fetchTool(options)],
        host: await testHost({ module: await module }),
      });
      const { error } = await runner.stream({ message: 'go' }).result;
      assert.equal(codeOf(error), 'E_INVALID_INITIAL_TOOL_VALUE');
      return String(error);
    };
    assert.match(await run({ allow: ['a.test'] }), /an address begins with http/);
    assert.match(await run({ allow: ['https://a.test'], redirects: 99 }), /`redirects` must be/);
    assert.match(
      await run({ allow: ['https://a.test'] }, coreModule()),
      /not in this module, but in turncore-full\.wasm/,
    );
  });
});

/**
 * What goes wrong when the module is loaded, as a program sees it that wrote `host: { module }`, or nothing.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { build, type BuildOptions } from 'esbuild';

import * as turncore from '../../src/index.js';
import { E_INVALID_MODULE } from '../../src/entries/errors.js';
import { createWorkerRunner } from '../../src/entries/worker.js';

type Package = Pick<typeof turncore, 'createRunner'>;

const dist = new URL('../../../dist/', import.meta.url);
/** The package a second time, as a page could load it. */
const copy = (await import(new URL('turncore.min.js', dist).href)) as typeof turncore;
const wasm = await readFile(new URL('turncore.wasm', dist));

/** The end of a turn of a runner whose host has these options. */
async function turn(
  host?: turncore.HostOptions,
  { createRunner }: Package = turncore,
): Promise<{ status: string; error: unknown }> {
  return createRunner({ executor: (ctx) => ctx.ack(), host }).stream({ message: 'x' }).result;
}

/** The error of such a turn: it has the code, and says in the user's words what to do. */
async function fault(host?: turncore.HostOptions, from?: Package): Promise<turncore.TurncoreError> {
  const { status, error } = await turn(host, from);
  assert.equal(status, 'failed');
  assert.ok(error instanceof E_INVALID_MODULE, String(error));
  assert.match(error.message, /`host: \{ module \}` takes its URL/);
  assert.match(error.message, /docs\/hosts\.md/);
  assert.doesNotMatch(error.message, /loadModule|compileSource|instantiate|confine/);
  assert.ok(error.help !== undefined && error.message.endsWith(error.help));
  return error;
}

describe('a module that is fetched', () => {
  const answers: Record<string, (response: ServerResponse) => void> = {
    '/gone': (response) => response.writeHead(404).end('not found'),
    '/page': (response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>app'),
    '/page-as-wasm': (response) =>
      response.writeHead(200, { 'content-type': 'application/wasm' }).end('<!doctype html><p>app'),
    '/half': (response) =>
      response
        .writeHead(200, { 'content-type': 'application/wasm' })
        .end(wasm.subarray(0, wasm.length / 2)),
    '/cut': (response) => {
      response.writeHead(200, { 'content-length': wasm.length });
      response.write(wasm.subarray(0, 1000), () => response.destroy());
    },
    '/empty': (response) => response.writeHead(200).end(),
    '/plain': (response) =>
      response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(wasm),
    '/typeless': (response) => response.writeHead(200).end(wasm),
  };
  const listener = ({ url }: IncomingMessage, response: ServerResponse): void =>
    answers[url!]!(response);
  const server = createServer(listener);
  let base: string;

  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.close();
    server.closeAllConnections();
  });

  const faults: Record<string, string> = {
    '/gone': 'HTTP status 404',
    '/page': 'it is a page, not a module',
    '/page-as-wasm': 'it is a page, not a module',
    '/half': 'the file may be cut off',
    '/cut': 'cannot compile',
    '/empty': 'cannot compile',
  };
  for (const [path, why] of Object.entries(faults)) {
    it(`${path}: ${why}`, async () => {
      const { message } = await fault({ module: base + path });
      assert.ok(message.includes(base + path) && message.includes(why), message);
      const given = await fault({ module: fetch(base + path) });
      assert.ok(given.message.includes(why), given.message);
    });
  }

  it('may have any type', async () => {
    for (const path of ['/plain', '/typeless']) {
      assert.equal((await turn({ module: base + path })).status, 'ack');
    }
  });

  it('may come with the next turn, when the server is there again', async () => {
    let answer = answers['/gone']!;
    answers['/later'] = (response) => answer(response);
    const executor: turncore.DispatchExecutorFn = (ctx) => ctx.ack();
    const runner = turncore.createRunner({ executor, host: { module: `${base}/later` } });
    assert.equal((await runner.stream({ message: 'x' }).result).status, 'failed');
    answer = answers['/plain']!;
    assert.equal((await runner.stream({ message: 'x' }).result).status, 'ack');
  });

  it('is refused where no server is', async () => {
    const { message } = await fault({ module: 'http://127.0.0.1:1/turncore.wasm' });
    assert.match(message, /cannot fetch http:\/\/127\.0\.0\.1:1\/turncore\.wasm/);
  });
});

describe('a module that a policy forbids', () => {
  const told = {
    Chromium:
      "Compiling or instantiating WebAssembly module violates the following Content Security policy directive because 'unsafe-eval' is not an allowed source of script",
    Firefox: 'call to WebAssembly.compile() blocked by CSP',
    WebKit:
      "Refused to create a WebAssembly object because 'unsafe-eval' or 'wasm-unsafe-eval' is not an allowed source of script",
  };
  for (const [browser, message] of Object.entries(told)) {
    it(`as ${browser} tells it`, async (t: TestContext) => {
      function refuse(): never {
        throw new WebAssembly.CompileError(message);
      }
      t.mock.method(WebAssembly, browser === 'WebKit' ? 'Instance' : 'compile', refuse);
      const { error } = await turn({ module: Uint8Array.from(wasm) });
      assert.ok(error instanceof E_INVALID_MODULE);
      assert.match(error.message, /Add 'wasm-unsafe-eval' to script-src in the page's/);
    });
  }
});

describe('a module that is not where the package says', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'turncore-faults-'));
  });
  after(() => rm(folder, { recursive: true }));

  /** The package in a file of a bundler, without its modules. */
  async function bundled(name: string, options: BuildOptions): Promise<Package> {
    const outfile = join(folder, name);
    await build({
      entryPoints: [fileURLToPath(new URL('index.js', dist))],
      outfile,
      bundle: true,
      logLevel: 'silent',
      ...options,
    });
    const loaded = (await import(pathToFileURL(outfile).href)) as Package & { default?: Package };
    return loaded.default ?? loaded;
  }

  it('a file that is missing', async () => {
    const { message } = await fault({ module: join(folder, 'turncore.wasm') });
    assert.match(message, /cannot read \S+turncore\.wasm: ENOENT/);
  });

  it('a bundle for Node', async () => {
    const { message } = await fault(
      {},
      await bundled('node.mjs', { format: 'esm', platform: 'node' }),
    );
    assert.match(message, /cannot read file:\S+turncore\.wasm: ENOENT/);
  });

  it('a bundle for pages', async () => {
    const { message } = await fault({}, await bundled('page.mjs', { format: 'esm' }));
    assert.match(message, /cannot fetch file:\S+turncore\.wasm/);
  });

  it('a bundle that does not know where it is', async () => {
    const { message } = await fault({}, await bundled('lost.cjs', { format: 'cjs' }));
    assert.match(message, /this bundle does not know where turncore\.wasm is/);
  });
});

describe('a second copy of the package', () => {
  const other = /of another copy of turncore: load the package once/;
  const executor: turncore.DispatchExecutorFn = (ctx) => ctx.ack();
  const tool = new copy.Tool({
    name: 'day',
    description: 'Day of the week',
    inputSchema: { type: 'object', properties: {} },
    handler: () => 'Monday',
  });

  const uses: Record<string, () => unknown> = {
    host: () => turncore.createRunner({ executor, host: new copy.Host() }),
    executor: () =>
      turncore.createRunner({ executor: new copy.ChatExecutor({ model: 'm' }) as never }),
    'tools[0]': () => createWorkerRunner(new MessageChannel().port1, { tools: [tool] as never }),
  };
  for (const [field, use] of Object.entries(uses)) {
    it(`is told by ${field}`, () => {
      assert.throws(use, (error: Error) => {
        assert.match(error.message, other);
        assert.ok(error.message.includes(field), error.message);
        return true;
      });
    });
  }

  it('is told by host.module', async () => {
    const { error } = await turn({ module: copy.loadModule() as never });
    assert.ok(error instanceof E_INVALID_MODULE);
    assert.match(error.message, other);
  });

  it('gives tools, which run', async () => {
    const runner = turncore.createRunner({
      tools: [tool as never],
      executor: async (ctx, helpers) => {
        const day = await tool.executor(ctx as never)({});
        helpers.reportMessage('m', day, { isComplete: true });
        ctx.ack();
      },
    });
    const { status, text } = await runner.stream({ message: 'x' }).result;
    assert.deepEqual([status, text], ['ack', 'Monday']);
  });

  it('is not suspected where a value is plain, or of the platform', () => {
    for (const tools of [[{}], [new Date()], [5], [null], [new Map()]]) {
      assert.throws(
        () => turncore.createRunner({ executor, tools: tools as never }),
        (error: Error) =>
          !error.message.includes('of another copy of turncore: load the package once'),
      );
    }
  });

  it('makes errors that are told by their codes', async () => {
    const { error } = await turn({ module: '/lost.wasm' }, copy);
    assert.ok(error instanceof E_INVALID_MODULE);
    assert.ok(turncore.isTurncoreError(error, 'E_INVALID_MODULE'));
  });

  it('plays its own turns beside the first', async () => {
    const ends = await Promise.all([turn(), turn({ module: Uint8Array.from(wasm) }, copy)]);
    assert.deepEqual(
      ends.map(({ status }) => status),
      ['ack', 'ack'],
    );
  });
});

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { VARIABLES } from '../../src/cli/variables.gen.js';
import { simulatedProvider } from '../../src/simulated/provider.js';
import {
  conversations,
  endLine,
  needCommand,
  reproducible,
  temporaryFolder,
  turncore,
} from './turncore.js';

before(needCommand);

/** What a run says that has no real model. */
const simulatedNote =
  'note: the model is simulated; --provider, --base-url or --model choose a real one\n';

describe('turncore run', () => {
  it('shows an answer, with thoughts and tool calls beside it', async () => {
    const { status, stdout, stderr } = await turncore(['run', 'calculate (2 + 3) * 4']);
    assert.equal(status, 0, stderr);
    assert.equal(stdout, 'The tool answered: 20\n');
    assert.equal(
      stderr,
      `${simulatedNote}The text mentions calculate, so I call it.\n→ calculate {"expression":"(2 + 3) * 4"}\n← 20\n`,
    );
  });

  it('prints the same lines at every run', async () => {
    const args = ['run', 'what is the current time?', '--json', ...reproducible];
    const { status, stdout, stderr } = await turncore(args);
    assert.equal(status, 0, stderr);
    assert.equal(stderr, simulatedNote);
    assert.equal((await turncore(args)).stdout, stdout);
    const lines = stdout.trimEnd().split('\n');
    assert.match(
      lines[0]!,
      /^\{"event":"turnStart","seq":1,"at":1767225600000,"turnId":"1f0e6a4d-0c3c-6000-[0-9a-f-]{17}","startedAt":1767225600000\}$/,
    );
    assert.deepEqual(
      lines.slice(0, -1).map((line) => (JSON.parse(line) as { seq: number }).seq),
      lines.slice(0, -1).map((_, i) => i + 1),
    );
    assert.equal(
      lines.at(-1),
      '{"event":"end","status":"ack","iterations":2,"messages":[{"role":"user","content":"what is the current time?"},{"role":"assistant","content":"The tool answered: 2026-01-01T00:00:00.000Z"}],"thoughts":["The text mentions current_time, so I call it."],"toolCalls":[{"tool":"current_time","args":{},"isError":false,"results":"2026-01-01T00:00:00.000Z"}],"error":null}',
    );
  });

  it('reads the prompt from standard input', async () => {
    for (const args of [['run'], ['run', '-']]) {
      const { status, stdout } = await turncore(args, { input: 'hello\r\n' });
      assert.equal(status, 0);
      assert.match(stdout, /^You said: hello\n/);
    }
    const none = await turncore(['run'], { input: ' \n' });
    assert.equal(none.status, 2);
    assert.match(none.stderr, /prompt on standard input is empty/);
  });

  it('fails when the turn is stopped by its bound', async () => {
    const { status, stdout } = await turncore([
      'run',
      'calculate 1+1',
      '--json',
      '--max-iterations',
      '1',
    ]);
    assert.equal(status, 1);
    const { status: end, error, toolCalls } = endLine(stdout);
    assert.equal(end, 'nack');
    assert.equal(error?.code, 'E_MAX_ITERATIONS');
    assert.equal(toolCalls.length, 1);
  });

  it('offers programs as tools', async () => {
    const tool = (program: string) => [
      'run',
      'use my_tool',
      '--json',
      '--tool',
      `my_tool=${program}`,
    ];
    const [shown, failed, silent, big] = await Promise.all([
      turncore(tool('cat; printf "\\r\\n"')),
      turncore(tool('echo why >&2; exit 3')),
      turncore(tool('exit 3')),
      turncore(tool('head -c 5000000 /dev/zero')),
    ]);
    const call = (stdout: string) => endLine(stdout).toolCalls[0]!;
    assert.deepEqual(call(shown.stdout), {
      tool: 'my_tool',
      args: {},
      isError: false,
      results: '{}',
    });
    assert.equal(call(failed.stdout).isError, true);
    assert.match(call(failed.stdout).results, /: why$/);
    assert.match(call(silent.stdout).results, /exit status 3$/);
    assert.match(call(big.stdout).results, /longer than 4194304 bytes$/);
  });

  for (const signal of ['SIGINT', 'SIGHUP'] as const) {
    it(`aborts the turn and its programs at a ${signal}`, async () => {
      let interrupted = false;
      const started = performance.now();
      const { status, stdout } = await turncore(
        ['run', 'use the sleeper', '--json', '--tool', 'sleeper=sleep 60'],
        {
          onOutput: (text, kill) => {
            if (interrupted || !text.includes('toolExecutionStart')) return;
            interrupted = true;
            kill(signal);
          },
        },
      );
      assert.equal(status, 1);
      const { status: end, error } = endLine(stdout);
      assert.equal(end, 'aborted');
      assert.deepEqual(error, { code: 'AbortError', message: 'interrupted' });
      assert.ok(performance.now() - started < 50_000, 'it waited for the program');
    });
  }

  it('sends the key to the endpoint and shows it to nobody', async () => {
    const seen: { headers: IncomingHttpHeaders; model: string }[] = [];
    const provider = simulatedProvider();
    const server = createServer((request, response) => {
      const { headers } = request;
      request.once('data', (data: Buffer) => {
        seen.push({ headers, model: /"model":"([^"]*)"/.exec(data.toString())?.[1] ?? '' });
      });
      provider(request, response);
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const { port } = server.address() as AddressInfo;
    const env = {
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      OPENAI_API_KEY: 'sk-very-secret',
    };
    try {
      const { status, stdout, stderr } = await turncore(['run', 'hello', '--json', '--verbose'], {
        env,
      });
      assert.equal(status, 0, stderr);
      assert.deepEqual(
        seen.map(({ headers, model }) => [headers.authorization, model]),
        [['Bearer sk-very-secret', 'gpt-4o-mini']],
      );
      assert.ok(!`${stdout}${stderr}`.includes('secret'));
      assert.equal(endLine(stdout).messages.at(-1)?.content, 'You said: hello');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('speaks to each provider, with the key of its own variable', async () => {
    const cases = await conversations();
    const env: Record<string, string> = {};
    for (const { key } of Object.values(VARIABLES)) if (key !== undefined) env[key] = `sk-${key}`;
    for (const { provider, model, base, path, key, replies } of cases) {
      let seen: { headers: IncomingHttpHeaders; url: string | undefined } | undefined;
      const server = createServer((request, response) => {
        const { headers, url } = request;
        seen = { headers, url };
        const { type, body } = replies.at(-1)!;
        request.resume().once('end', () => {
          response.writeHead(200, { 'content-type': type }).end(body);
        });
      });
      await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
      const { port } = server.address() as AddressInfo;
      try {
        const { status, stdout, stderr } = await turncore(
          [
            ...['run', 'hello', '--provider', provider, '--model', model],
            ...['--base-url', `http://127.0.0.1:${port}${base}`],
          ],
          { env },
        );
        assert.deepEqual([status, stdout], [0, '4 degrees in Oslo.\n'], stderr);
        const variable = VARIABLES[provider].key;
        const sent = variable === undefined ? undefined : env[variable];
        assert.equal(seen?.url, path);
        assert.equal(seen.headers[key[0]], sent === undefined ? undefined : key[1] + sent);
      } finally {
        server.closeAllConnections();
        server.close();
      }
    }
  });

  it('says what is wrong when there is no endpoint', async () => {
    // Port 9 of loopback is closed wherever tests run, and fetch lets it be asked for nothing.
    const { status, stderr } = await turncore([
      'run',
      'hello',
      '--base-url',
      'http://127.0.0.1:9/v1',
    ]);
    assert.equal(status, 1);
    assert.match(stderr, /^error: E_HTTP_TRANSPORT: .*\n {2}\S/);
  });

  it('says what is wrong with a module', async () => {
    const empty = join(await temporaryFolder(), 'empty.wasm');
    await writeFile(empty, Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
    const says: [module: string, wrong: RegExp][] = [
      ['/nowhere/x.wasm', /^error: --module: ENOENT: .*'\/nowhere\/x\.wasm'$/m],
      [import.meta.filename, /^error: --module: .* is no WebAssembly module$/m],
      [empty, /^error: E_INVALID_MODULE: /m],
    ];
    for (const [module, wrong] of says) {
      const { status, stderr } = await turncore(['run', 'hello', '--module', module]);
      assert.equal(status, 1);
      assert.match(stderr, wrong);
    }
  });
});

describe('turncore', () => {
  it('shows help and versions', async () => {
    for (const args of [
      ['help'],
      ['--help'],
      ['help', 'run'],
      ['run', '-h'],
      ['replay', '-h'],
      ['version'],
    ]) {
      const { status, stdout, stderr } = await turncore(args);
      assert.equal(status, 0, stderr);
      assert.match(stdout, /^turncore /);
    }
  });

  it('refuses command lines that are wrong', async () => {
    for (const args of [
      [],
      ['frob'],
      ['run', '--nope'],
      ['run', '--model', 'gpt-4o-mini', 'hello'],
      ['replay'],
      ['version', 'x'],
      ['help', 'x'],
    ]) {
      const { status, stdout, stderr } = await turncore(args);
      assert.equal(status, 2, args.join(' '));
      assert.equal(stdout, '');
      assert.match(stderr, /turncore/);
    }
  });

  it('keeps a conversation where Node has SQLite, and says where it has none', async () => {
    const file = join(await temporaryFolder(), 'kept.db');
    const run = (...args: string[]) =>
      turncore(['run', 'hello', '--json', '--store', file, ...args]);
    const first = await run('--session', 'a');
    if (process.getBuiltinModule?.('node:sqlite') === undefined) {
      assert.equal(first.status, 2);
      assert.ok(first.stderr.includes(`from 22.13 on; this is Node ${process.versions.node}`));
      return;
    }
    assert.equal(endLine(first.stdout).messages.length, 2);
    assert.equal(endLine((await run('--session', 'a')).stdout).messages.length, 4);
    assert.equal(endLine((await run()).stdout).messages.length, 2);
  });
});

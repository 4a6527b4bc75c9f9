import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';

import { loadRecording } from '../../src/recording/recording.js';
import { Recorder, type RecorderOptions } from '../../src/recording/recorder.js';
import { simulatedProvider } from '../../src/simulated/provider.js';
import { command, conversations, needCommand, temporaryFolder, turncore } from './turncore.js';

before(needCommand);

const KEY = 'sk-planted/0123456789';

/** Serves on loopback while something runs. */
async function serving<T>(handler: RequestListener, run: (origin: string) => Promise<T>) {
  const server = createServer(handler);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    return await run(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Puts a recorder in front of a provider while something runs. */
function recording(
  provider: RequestListener,
  run: (at: { origin: string; recorder: Recorder; told: string[] }) => Promise<void>,
  options: Partial<RecorderOptions> = {},
): Promise<void> {
  return serving(provider, async (target) => {
    const told: string[] = [];
    const tell = (line: string): void => void told.push(line);
    const recorder = new Recorder({ name: 'n', target: new URL(target), told: tell, ...options });
    await serving(recorder.handle, (origin) => run({ origin, recorder, told }));
  });
}

describe('record-provider', () => {
  it('records a turn that the command then plays', async () => {
    const keys: (string | undefined)[] = [];
    const provider = simulatedProvider();
    await serving(
      (request, response) => {
        keys.push(request.headers.authorization);
        provider(request, response);
      },
      async (origin) => {
        const file = join(await temporaryFolder(), 'weather.json');
        const program = [process.execPath, command, 'run', '--model', 'simulated'];
        const recorded = await turncore(
          [
            ...['record-provider', file, '--base-url', `${origin}/v1`, '--', ...program],
            ...['--tool', 'weather=cat', 'How is the weather in Oslo?'],
          ],
          { env: { OPENAI_API_KEY: KEY } },
        );
        assert.equal(recorded.status, 0, recorded.stderr);
        assert.match(recorded.stdout, /The tool answered/);
        assert.match(recorded.stderr, /has 2 interactions/);
        assert.deepEqual(keys, [`Bearer ${KEY}`, `Bearer ${KEY}`]);
        const { name, interactions } = await loadRecording(file);
        assert.equal(name, 'weather');
        assert.equal(interactions[0]!.request.url, `${origin}/v1/chat/completions`);
        assert.ok(!(await readFile(file, 'utf8')).includes('planted'));
        assert.equal((await stat(file)).mode & 0o777, 0o600);
        const played = await turncore(['run', '--recording', file]);
        assert.equal(played.status, 0, played.stderr);
        assert.match(played.stdout, /The tool answered/);
      },
    );
  });

  it('records each provider, which the command finds by the environment', async () => {
    for (const c of await conversations()) {
      const { type, body } = c.replies.at(-1)!;
      await serving(
        (_, response) => void response.setHeader('content-type', type).end(body),
        async (origin) => {
          const file = join(await temporaryFolder(), 'r.json');
          const named = ['--provider', c.provider];
          const program = [process.execPath, command, 'run', ...named, '--model', c.model, 'hello'];
          const recorded = await turncore(
            ['record-provider', file, ...named, '--base-url', origin + c.base, '--', ...program],
            {},
          );
          assert.equal(recorded.status, 0, recorded.stderr);
          const { interactions } = await loadRecording(file);
          assert.equal(interactions[0]!.request.url, origin + c.path);
        },
      );
    }
  });

  it('ends with an interrupt', async () => {
    const file = join(await temporaryFolder(), 'none.json');
    // The program interrupts the command, which interrupts the program.
    const interrupt = 'process.kill(process.ppid, "SIGINT"); setTimeout(() => {}, 60000)';
    const ended = await turncore(['record-provider', file, '--', 'node', '-e', interrupt]);
    assert.equal(ended.status, 130);
    assert.match(ended.stderr, /nothing was recorded/);
  });

  it('says what is wrong with a command line', async () => {
    const folder = await temporaryFolder();
    const there = join(folder, 'there.json');
    await writeFile(there, '');
    const fresh = join(folder, 'fresh.json');
    const cases: [args: string[], status: number, says: RegExp][] = [
      [[], 2, /give the file/],
      [[there], 2, /is there already/],
      [[fresh, '--base-url', 'ftp://a'], 2, /one of http or https/],
      [[fresh, '--provider', 'nobody'], 2, /must be one of/],
      [[fresh, '--port', 'x'], 2, /port/],
      [[fresh, '--', 'node', '-e', 'process.exit(7)'], 7, /in front of https:\/\/api\.openai\.com/],
      [[fresh, '--', 'no-such-program-anywhere'], 1, /no-such-program-anywhere/],
      [['-h'], 0, /^$/],
    ];
    for (const [args, status, says] of cases) {
      const ended = await turncore(['record-provider', ...args]);
      assert.equal(ended.status, status, ended.stderr);
      assert.match(ended.stderr, says);
    }
    await assert.rejects(stat(fresh));
  });
});

describe('Recorder', () => {
  it('takes out keys in every form, in requests and answers', () =>
    recording(
      (request, response) => {
        assert.equal(request.headers['accept-encoding'], 'identity');
        response.setHeader('content-type', 'text/event-stream');
        response.end(
          `data: {"error":"no key ${KEY} or sk-planted\\/0123456789, query-planted"}\n\n`,
        );
      },
      async ({ origin, recorder, told }) => {
        const answer = await fetch(`${origin}/v1/chat/completions?key=query-planted&a=1`, {
          method: 'POST',
          headers: { authorization: `Bearer ${KEY}` },
          body: JSON.stringify({ model: 'm', note: KEY }),
        });
        assert.ok((await answer.text()).includes(KEY));
        const text = JSON.stringify(recorder.recording) + told.join();
        assert.ok(!text.includes('planted'), text);
        const [it] = recorder.recording.interactions;
        assert.ok(it!.request.url.endsWith('/v1/chat/completions?a=1'));
        assert.equal(it!.response.contentType, 'text/event-stream');
      },
    ));

  it('adds its key for programs and pages of this machine only', async () => {
    const cases: [headers: Record<string, string>, want: string | undefined][] = [
      [{}, KEY],
      [{ 'x-api-key': 'another key' }, 'another key'],
      [{ origin: 'http://localhost:5173' }, KEY],
      [{ origin: 'https://evil.example' }, undefined],
      [{ origin: 'null' }, undefined],
    ];
    for (const [headers, want] of cases) {
      let got: unknown;
      await recording(
        (request, response) => {
          got = request.headers['x-api-key'];
          response.end();
        },
        async ({ origin }) => {
          await fetch(origin, { method: 'POST', headers, body: '{}' });
        },
        { key: { header: 'x-api-key', value: KEY } },
      );
      assert.equal(got, want);
    }
  });

  it('passes on what it does not record', () =>
    recording(
      (request, response) => {
        switch (request.url) {
          case '/redirect':
            response.writeHead(302, { location: 'https://elsewhere.example/' }).end();
            break;
          case '/binary':
            response.end(Buffer.from([0xff, 0xfe]));
            break;
          case '/broken':
            response.write('data: half', () => response.destroy());
            break;
          default:
            response.end('ok');
        }
      },
      async ({ origin, recorder, told }) => {
        const post = (path: string): Promise<Response> =>
          fetch(origin + path, { method: 'POST', body: '{}', redirect: 'manual' });
        assert.equal(await (await fetch(`${origin}/models`)).text(), 'ok');
        assert.deepEqual(
          [...new Uint8Array(await (await post('/binary')).arrayBuffer())],
          [255, 254],
        );
        await assert.rejects(async () => (await post('/broken')).text());
        assert.equal(recorder.recording.interactions.length, 0);
        assert.equal((await post('/redirect')).status, 302);
        assert.equal(recorder.recording.interactions.length, 1);
        assert.match(told.join('\n'), /\/models: 200, 2 bytes; not recorded/);
        assert.match(told.join('\n'), /not text in UTF-8/);
        assert.match(told.join('\n'), /\/broken: not recorded: /);
      },
    ));

  it('says so when the provider cannot be reached', () =>
    recording(
      () => assert.fail('nobody listens'),
      async ({ origin, recorder, told }) => {
        const answer = await fetch(`${origin}/v1/chat/completions`, { method: 'POST', body: '{}' });
        assert.equal(answer.status, 502);
        assert.match(await answer.text(), /fetch failed/);
        assert.equal(recorder.recording.interactions.length, 0);
        assert.match(told.join(), /not recorded/);
      },
      { target: new URL('http://127.0.0.1:9') },
    ));
});

// The handler of examples/edge on Deno and Bun, and the Worker in "wrangler dev", by its wrangler.json.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { clientOf } from '../../../examples/edge/test/client.mjs';
import { plays } from '../../../examples/edge/test/plays.mjs';
import { start } from '../../../examples/edge/test/start.mjs';
import { installed } from './installed.mjs';

const deno = [
  installed('@deno/linux-x64-glibc/deno'),
  ...['run', '--no-prompt', '--cached-only', '--node-modules-dir=manual'],
  ...['--allow-net', '--allow-env', '--allow-read', 'hosts/deno.js'],
];
const bun = [installed('@oven/bun-linux-x64/bin/bun'), 'run', 'hosts/bun.js'];

/** Where wrangler leaves what it bundled. */
const bundles = new URL('../../../examples/edge/.wrangler/tmp/', import.meta.url);

/** The newest one: wrangler asks for Node 22. */
const NODE = process.env.TURNCORE_NODES?.split(':').at(-1) ?? process.execPath;

for (const [name, command] of Object.entries({ Deno: deno, Bun: bun })) {
  test(`examples/edge on ${name}`, async () => {
    const server = await start(command);
    try {
      await plays(clientOf(`${server.address}/conversations/a/turns`));
    } finally {
      await server.stop();
    }
  });
}

test('examples/edge in wrangler dev', async () => {
  const state = await mkdtemp(join(tmpdir(), 'turncore-wrangler-'));
  const server = await start(
    [
      NODE,
      installed('wrangler/bin/wrangler.js'),
      ...['dev', '--local', '--ip=127.0.0.1', '--port=0', '--inspector-port=0'],
      ...[`--persist-to=${state}`, '--show-interactive-dev-session=false'],
    ],
    { CI: '1', NO_COLOR: '1', WRANGLER_HIDE_BANNER: 'true', WRANGLER_SEND_METRICS: 'false' },
  );
  try {
    await plays(clientOf(`${server.address}/conversations/a/turns`));
    const page = await (await fetch(server.address)).text();
    assert.match(page, /<script type="module" src="page.js">/);
    const script = await (await fetch(`${server.address}/page.js`)).text();
    assert.match(script, /conversations/);
  } finally {
    await server.stop();
    for (const left of [state, bundles]) await rm(left, { recursive: true, force: true });
  }
});

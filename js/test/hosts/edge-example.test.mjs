// The handler of examples/edge on Deno and Bun.
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

for (const [name, command] of Object.entries({ Deno: deno, Bun: bun })) {
  test(`examples/edge on ${name}`, async () => {
    const server = await start(() => command);
    try {
      await plays(clientOf(`${server.address}/conversations/a/turns`));
    } finally {
      await server.stop();
    }
  });
}

// node hosts/workerd.js: the Worker that `npm run build` has made. What follows goes to workerd, as --socket-addr does.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { argv, env, exit } from 'node:process';
import { createInterface } from 'node:readline';

import workerd from 'workerd';

/** Where workerd says what it listens on. */
const CONTROL = 3;

const data = resolve(env.DATA || 'data');
mkdirSync(data, { recursive: true });
const flags = [`--directory-path=data=${data}`, `--control-fd=${CONTROL}`];
const child = spawn(
  workerd.default ?? workerd,
  ['serve', 'config.capnp', ...flags, ...argv.slice(2)],
  { stdio: ['inherit', 'inherit', 'inherit', 'pipe'] },
);
child.on('exit', (code) => exit(code ?? 1));
for await (const line of createInterface({ input: child.stdio[CONTROL] })) {
  const { event, port } = JSON.parse(line);
  if (event === 'listen') console.log(`Talk to it: http://127.0.0.1:${port}/`);
}

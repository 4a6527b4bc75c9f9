// node hosts/workerd.js: the Worker that `npm run build` has made. What follows goes to workerd, as --socket-addr does.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { argv, env, exit } from 'node:process';

import workerd from 'workerd';

const data = resolve(env.DATA || 'data');
mkdirSync(data, { recursive: true });
const args = ['serve', 'config.capnp', `--directory-path=data=${data}`, ...argv.slice(2)];
// The last address that workerd is told of counts; config.capnp has the one before.
const given = args.join(' ').matchAll(/(?:--socket-addr[ =]|-s ?)http=(\S+)/g);
const address = [...given].at(-1)?.[1] ?? '127.0.0.1:8787';
console.log(`Talk to it: http://${address.replace(/^\*/, 'localhost')}/`);
const child = spawn(workerd.default ?? workerd, args, { stdio: 'inherit' });
child.on('exit', (code) => exit(code ?? 1));

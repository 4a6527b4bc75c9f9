// node hosts/workerd.js: the Worker that `npm run build` has made. What follows goes to workerd, as --socket-addr does.
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { argv, env, exit } from 'node:process';

import workerd from 'workerd';

const data = resolve(env.DATA || 'data');
mkdirSync(data, { recursive: true });
const args = ['serve', 'config.capnp', `--directory-path=data=${data}`, ...argv.slice(2)];
const child = spawn(workerd.default ?? workerd, args, { stdio: 'inherit' });
child.on('exit', (code) => exit(code ?? 1));

// Hosts that run a program from the command line.
import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { installed } from './installed.mjs';
import { together } from './places.mjs';
import { runToEnd } from './processes.mjs';

const PROGRAM = `import { argv } from 'node:process';
import { play } from './program.mjs';
import { playInThread, threads } from './thread-program.mjs';

const parts = argv.slice(2);
const played = { '': await play(parts) };
if (parts.length === 0) {
  for (const [name, Thread] of threads) played[name] = await playInThread(Thread);
}
console.log(JSON.stringify(played));
`;

/** A host that is started by a command with arguments before the program's. */
function runtime(name, command, before = () => []) {
  return {
    name,
    async play({ folder }, parts) {
      await writeFile(join(folder, 'run.mjs'), PROGRAM);
      const args = [...before(folder), 'run.mjs', ...parts];
      return together(JSON.parse(await runToEnd(command, args, { cwd: folder })));
    },
  };
}

/** Node of each major version that is supported; TURNCORE_NODES has their commands, separated by colons. */
const nodes = (process.env.TURNCORE_NODES ?? 'node')
  .split(':')
  .map((command) =>
    runtime(`Node ${execFileSync(command, ['--version'], { encoding: 'utf8' }).trim()}`, command),
  );

export const runtimes = [
  ...nodes,
  runtime('Deno', installed('@deno/linux-x64-glibc/deno'), (folder) => [
    'run',
    '--no-prompt',
    '--cached-only',
    '--node-modules-dir=manual',
    `--allow-read=${folder}`,
  ]),
  runtime('Bun', installed('@oven/bun-linux-x64/bin/bun'), () => ['run']),
];

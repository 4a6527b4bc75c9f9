// Hosts that run a program from the command line.
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { installed } from './installed.mjs';
import { together } from './places.mjs';
import { runToEnd } from './processes.mjs';
import { environment } from './project.mjs';
import { commandOf, shows } from './shown.mjs';

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

/**
 * A host that is started by a command with arguments before the program's.
 *
 * @param words how its command in docs/hosts.md begins
 */
function runtime(name, command, words, before = () => []) {
  return {
    name,
    async play({ folder }, parts) {
      await writeFile(join(folder, 'run.mjs'), PROGRAM);
      const args = [...before(folder), 'run.mjs', ...parts];
      return together(JSON.parse(await runToEnd(command, args, { cwd: folder })));
    },
    async show({ shown }) {
      const env = { ...environment, PATH: `${dirname(command)}:${environment.PATH}` };
      return shows('main.js', await shell(commandOf(words), { cwd: shown, env }));
    },
  };
}

const shell = (commands, options) => runToEnd('sh', ['-ec', commands], options);

/** Node of each major version that is supported; TURNCORE_NODES has their commands, separated by colons. */
const nodes = (process.env.TURNCORE_NODES ?? process.execPath)
  .split(':')
  .map((command) =>
    runtime(
      `Node ${execFileSync(command, ['--version'], { encoding: 'utf8' }).trim()}`,
      command,
      'node main.js',
    ),
  );

export const runtimes = [
  ...nodes,
  runtime('Deno', installed('@deno/linux-x64-glibc/deno'), 'deno ', (folder) => [
    'run',
    '--no-prompt',
    '--cached-only',
    '--node-modules-dir=manual',
    `--allow-read=${folder}`,
  ]),
  runtime('Bun', installed('@oven/bun-linux-x64/bin/bun'), 'bun run ', () => ['run']),
];

/** Go's own loader, of the release that builds the module. */
export const goLoader = {
  name: "Go's loader in Node",
  async show({ shown }) {
    const goMod = await readFile(new URL('../../../go.mod', import.meta.url), 'utf8');
    const [, GOTOOLCHAIN] = /^toolchain (\S+)$/m.exec(goMod);
    const commands = ['cp "$(go env GOROOT)', 'node go.js'].map(commandOf).join('\n');
    return shows(
      'go.js',
      await shell(commands, { cwd: shown, env: { ...environment, GOTOOLCHAIN } }),
    );
  },
};

// Fresh projects outside of the repository, with the packed package and nothing else installed.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { installed } from './installed.mjs';
import { programs } from './shown.mjs';

const run = promisify(execFile);
const repository = new URL('../../../', import.meta.url);

/** The bundlers that a project may run by npx. */
const BUNDLERS = ['esbuild', 'rollup', 'vite', 'webpack'];

/**
 * Makes two projects.
 *
 * @param tarball what `npm pack` made
 * @returns the folder of the one with the program, that of the one with the programs of docs/hosts.md, and a function
 *   that removes both
 */
export async function makeProject(tarball) {
  const root = await mkdtemp(join(tmpdir(), 'turncore-hosts-'));
  const folder = join(root, 'agent');
  const shown = join(root, 'shown');
  await mkdir(folder);
  const manifest = { name: 'agent', version: '1.0.0', private: true, type: 'module' };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--offline'];
  await run('npm', ['install', ...flags, resolve(tarball)], { cwd: folder });
  const bin = join(folder, 'node_modules/.bin');
  await mkdir(bin, { recursive: true });
  for (const name of BUNDLERS) {
    await symlink(await realpath(installed(`.bin/${name}`)), join(bin, name));
  }
  await cp(folder, shown, { recursive: true, verbatimSymlinks: true });
  for (const [name, text] of programs) await writeFile(join(shown, name), text);
  for (const name of ['program.mjs', 'thread-program.mjs', 'thread-agent.mjs']) {
    await cp(fileURLToPath(new URL(name, import.meta.url)), join(folder, name));
  }
  await writeFile(join(folder, 'hello.mjs'), await helloModule());
  return { folder, shown, remove: () => rm(root, { recursive: true, force: true }) };
}

/** The environment in which commands of a project find the hosts, and this Node. */
export const environment = {
  ...process.env,
  PATH: [
    dirname(process.execPath),
    installed('@deno/linux-x64-glibc'),
    installed('@oven/bun-linux-x64/bin'),
    process.env.PATH,
  ].join(':'),
};

/** The first program of the README as a function, which gets what prints a line. */
async function helloModule() {
  const readme = await readFile(new URL('README.md', repository), 'utf8');
  const [, head, body] = /^```js\n(import [^;]+;)\n\n(.*?)^```$/ms.exec(readme);
  return `${head}

export async function hello(log) {
  const console = { log };
${body}}
`;
}

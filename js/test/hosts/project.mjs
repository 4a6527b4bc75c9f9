// Fresh projects outside of the repository, with the packed package and nothing else installed.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const repository = new URL('../../../', import.meta.url);

/**
 * Makes a project that holds the program.
 *
 * @param tarball what `npm pack` made
 * @returns its folder, and a function that removes it
 */
export async function makeProject(tarball) {
  const folder = await mkdtemp(join(tmpdir(), 'turncore-hosts-'));
  const manifest = { name: 'agent', version: '1.0.0', private: true, type: 'module' };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--offline'];
  await run('npm', ['install', ...flags, resolve(tarball)], { cwd: folder });
  for (const name of ['program.mjs', 'thread-program.mjs', 'thread-agent.mjs']) {
    await cp(fileURLToPath(new URL(name, import.meta.url)), join(folder, name));
  }
  await writeFile(join(folder, 'hello.mjs'), await helloModule());
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

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

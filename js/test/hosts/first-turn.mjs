// Measures hello on every host: how long its first turn takes, and the bytes of JavaScript that are delivered.
//
//   node first-turn.mjs TARBALL [--times=9] [HOST...]
//
// The time is from `stream()` to the turn's result in a fresh process, page or isolate: the JavaScript is loaded, the
// module is not. In Workers, whose clocks stand still, it is that of the first request, as the client sees it. Servers
// are on the same machine. The size is after brotli 11.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

import { bundlers } from './bundlers.mjs';
import { pages } from './pages.mjs';
import { makeProject } from './project.mjs';
import { runtimes } from './runtimes.mjs';
import { workers } from './workers.mjs';

const [tarball, ...rest] = process.argv.slice(2);
const flag = rest.find((word) => word.startsWith('--times='));
const times = flag === undefined ? 9 : Number(flag.slice('--times='.length));
const asked = rest.filter((word) => word !== flag);
const hosts = [...runtimes, ...workers, ...pages, ...bundlers].filter(
  ({ name }) => asked.length === 0 || asked.includes(name),
);

const project = await makeProject(tarball);
try {
  console.log('| host | first turn, ms: median (least to most) | JavaScript, bytes |');
  console.log('| --- | ---: | ---: |');
  for (const host of hosts) {
    const taken = [];
    for (let i = 0; i < times; i++) {
      const { ms, failures } = await host.play(project, ['hello']);
      if (failures.length > 0) throw new Error(`${host.name}: ${failures.join()}`);
      taken.push(ms);
    }
    taken.sort((a, b) => a - b);
    const [median, least, most] = [taken[times >> 1], taken[0], taken[times - 1]].map(Math.round);
    console.log(`| ${host.name} | ${median} (${least}–${most}) | ${await sizeOf(host)} |`);
  }
} finally {
  await project.remove();
}

/** Bytes of the scripts that a host gets of the programs in docs/hosts.md; nothing if they are not in files of their own. */
async function sizeOf({ show, delivered }) {
  if (delivered === undefined) return '';
  await show(project);
  const folder = join(project.shown, delivered.folder);
  const paths = await readdir(folder, { recursive: true });
  const scripts = paths.filter((path) => (delivered.scripts ?? /\.m?js$/).test(path));
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  const sizes = scripts.map(
    async (path) => brotliCompressSync(await readFile(join(folder, path)), { params }).length,
  );
  const sum = (await Promise.all(sizes)).reduce((total, size) => total + size, 0);
  return sum.toLocaleString('en');
}

// Plays the package on every host, and what docs/hosts.md shows for it, and says what came of it.
//
//   node play.mjs TARBALL [--parts=hello,stream] [--shard=2/3] [HOST...]
//
// --shard=2/3 is every third host, the second first.
import { makeProject } from './project.mjs';
import { bundlers } from './bundlers.mjs';
import { pages } from './pages.mjs';
import { goLoader, runtimes } from './runtimes.mjs';
import { workers } from './workers.mjs';

const [tarball, ...rest] = process.argv.slice(2);
const flag = (name) => rest.find((word) => word.startsWith(name))?.slice(name.length);
const parts = flag('--parts=')?.split(',') ?? [];
const [which, of] = (flag('--shard=') ?? '1/1').split('/').map(Number);
if (!(1 <= which && which <= of)) throw new Error('no shard: write it as 2/3');
const asked = rest.filter((word) => !word.startsWith('--'));

const hosts = [...runtimes, ...workers, ...pages, ...bundlers, goLoader];
const found = hosts.filter(({ name }) => asked.length === 0 || asked.includes(name));
if (found.length < asked.length) {
  throw new Error(`the hosts are ${hosts.map(({ name }) => name).join(', ')}`);
}
const chosen = found.filter((_, i) => i % of === which - 1);

const project = await makeProject(tarball);
try {
  for (const host of chosen) {
    let count = 0;
    for (const play of [host.play, host.show]) {
      if (play === undefined) continue;
      const { passed, failures } = await play(project, parts).catch((error) => ({
        passed: [],
        failures: [error.stack],
      }));
      if (passed.length + failures.length === 0) failures.push('nothing was played');
      for (const failure of failures) console.log(`FAILED ${host.name}: ${failure}`);
      if (failures.length > 0) process.exitCode = 1;
      count += passed.length;
    }
    console.log(`${host.name}: ${count} passed`);
  }
} finally {
  await project.remove();
}

// Plays the package on every host and says what came of it.
//
//   node play.mjs TARBALL [--parts=hello,stream] [HOST...]
import { makeProject } from './project.mjs';
import { bundlers } from './bundlers.mjs';
import { pages } from './pages.mjs';
import { runtimes } from './runtimes.mjs';
import { workers } from './workers.mjs';

const [tarball, ...rest] = process.argv.slice(2);
const flag = rest.find((word) => word.startsWith('--parts='));
const parts = flag === undefined ? [] : flag.slice('--parts='.length).split(',');
const asked = rest.filter((word) => word !== flag);

const hosts = [...runtimes, ...workers, ...pages, ...bundlers];
const chosen = hosts.filter(({ name }) => asked.length === 0 || asked.includes(name));
if (chosen.length < asked.length) {
  throw new Error(`the hosts are ${hosts.map(({ name }) => name).join(', ')}`);
}

const project = await makeProject(tarball);
try {
  for (const host of chosen) {
    const { passed, failures } = await host
      .play(project, parts)
      .catch((error) => ({ passed: [], failures: [error.stack] }));
    for (const failure of failures) console.log(`FAILED ${host.name}: ${failure}`);
    console.log(`${host.name}: ${passed.length} passed`);
    if (failures.length > 0 || passed.length === 0) process.exitCode = 1;
  }
} finally {
  await project.remove();
}

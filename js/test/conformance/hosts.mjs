// Plays the conformance corpus, with the packed package, on hosts of js/test/hosts and compares what each writes with
// the log of another host.
//
//   node hosts.mjs TARBALL LOG PART HOST...      PART: 2/5 is the second fifth of the scenarios, 1/1 is all
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { pages } from '../hosts/pages.mjs';
import { makeProject } from '../hosts/project.mjs';
import { runtimes } from '../hosts/runtimes.mjs';
import { workers } from '../hosts/workers.mjs';
import { readCorpus } from './corpus.mjs';
import { partOf } from './play.mjs';
import { difference, sections } from './sections.mjs';

const [tarball, log, part, ...names] = process.argv.slice(2);
const hosts = new Map([...runtimes, ...workers, ...pages].map((host) => [host.name, host]));
const unknown = names.find((name) => !hosts.has(name));
if (names.length === 0 || unknown !== undefined) {
  throw new Error(`${unknown ?? 'no name'} given: the hosts are ${[...hosts.keys()].join(', ')}`);
}

/** How a project gets the full module: Workers import it compiled. */
const LOCATED = `import { loadModule } from 'turncore';
import { fullModuleURL } from 'turncore/wasm';

export const module = loadModule(fullModuleURL);
`;
const IMPORTED = `export { default as module } from 'turncore/turncore-full.wasm';
`;

const corpus = await readCorpus();
const wanted = sections(await readFile(log, 'utf8'), partOf(corpus, part));
const project = await makeProject(tarball);
try {
  const into = (name) => join(project.folder, name);
  const from = (name) => fileURLToPath(new URL(name, import.meta.url));
  await cp(from('program.mjs'), into('program.mjs'));
  await cp(from('play.mjs'), into('play-corpus.mjs'));
  // As text: an object would lose keys such as __proto__.
  const text = JSON.stringify(JSON.stringify(corpus));
  await writeFile(into('files.mjs'), `export const text = ${text};\n`);
  for (const name of names) {
    const host = hosts.get(name);
    await writeFile(into('module.mjs'), workers.includes(host) ? IMPORTED : LOCATED);
    const { passed, failures, logs } = await host
      .play(project, [part])
      .catch((error) => ({ passed: [], failures: [error.stack], logs: [] }));
    const wrong = [...failures, ...logs.flatMap((text) => difference(text, wanted))];
    if (logs.length === 0) wrong.push('no log');
    for (const failure of wrong) console.log(`FAILED ${name}: ${failure}`);
    console.log(`${name}: ${passed.length} passed`);
    if (wrong.length > 0 || passed.length === 0) process.exitCode = 1;
  }
} finally {
  await project.remove();
}

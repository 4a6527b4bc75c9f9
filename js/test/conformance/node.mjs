// Plays the conformance corpus in this Node, prints what came of it and writes the log to a file. A SQLite file keeps
// what storage callbacks get, in memory where Node has no SQLite.
//
//   node node.mjs LOG NAME [full|core|go|metered [PART]]
//
// go: with the build of GOOS=js, by Go's own loader. PART: 2/5 is the second fifth of the scenarios; without one all.
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';

import { dist } from '../smoke/package-folder.mjs';
import { readCorpus } from './corpus.mjs';
import { partOf, playCorpus } from './play.mjs';

const [file, name, build = 'full', part] = process.argv.slice(2);
const conformance = await import(new URL('conformance/index.js', dist));
const { loadModule, memoryStore } = await import(new URL('index.js', dist));
const { meteredModule } = await import(new URL('entries/metering.js', dist));
const { fullModuleURL } = await import(new URL('wasm.js', dist));
const { sqliteStore } = await import(new URL('stores/sqlite.js', dist));

const folder = await mkdtemp(join(tmpdir(), 'turncore-corpus-'));
const hasSQLite = process.getBuiltinModule?.('node:sqlite') !== undefined;
const store = hasSQLite ? sqliteStore(join(folder, 'corpus.db')) : memoryStore();
const modules = { full: () => loadModule(fullModuleURL), core: loadModule, go: goModule, metered };
const { passed, failures, log, commits } = await playCorpus(
  conformance,
  partOf(await readCorpus(), part),
  { module: await modules[build]() },
  build === 'core',
  store,
);
await store.close?.();
await rm(folder, { recursive: true });
await writeFile(file, log);
for (const failure of failures) console.log(`FAILED ${failure}`);
console.log(`${name}: ${passed.length} passed`);
if (commits === 0) console.log('FAILED no scenario wrote anything');
process.exitCode = failures.length > 0 || passed.length === 0 || commits === 0 ? 1 : 0;

function metered() {
  return meteredModule(fullModuleURL);
}

async function goModule() {
  const root = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim();
  runInThisContext(await readFile(join(root, 'lib/wasm/wasm_exec.js'), 'utf8'));
  const bytes = await readFile(new URL('../../../wasm/core/turncore-js.wasm', import.meta.url));
  return loadModule(bytes, { goRuntime: globalThis.Go });
}

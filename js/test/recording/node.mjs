// Plays a recorded conversation in this Node and writes the event log to standard output. The command starts it:
//
//   turncore run --recording FILE --engine node
import { appendFileSync, writeFileSync } from 'node:fs';

import { dist } from '../smoke/package-folder.mjs';
import { play } from './play.mjs';

const [stage] = process.argv.slice(2);
const load = (path) => import(new URL(path, dist));
const index = await load('index.js');
const { fullModuleURL } = await load('wasm.js');
const modules = { index, lines: await load('cli/lines.js'), entropy: await load('entropy.js') };
const log = await play(modules, stage, (beginning) => ({
  module: index.loadModule(fullModuleURL),
  ...journal(beginning.log),
}));
process.stdout.write(log);

function journal(file) {
  if (file === '') return {};
  writeFileSync(file, '', { mode: 0o600 });
  return { journal: () => ({ write: (bytes) => appendFileSync(file, bytes) }) };
}

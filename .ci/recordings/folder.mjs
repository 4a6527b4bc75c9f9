// Replays the journals of a folder in Node, with a guest that collects garbage all the time and collections of the host
// forced before steps chosen at random. Usage: node --expose-gc .ci/recordings/folder.mjs FOLDER
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { mulberry32 } from '../../js/dist/entropy.js';
import { loadModule } from '../../js/dist/index.js';
import { replay } from '../../js/dist/entries/replay.js';

const [folder] = process.argv.slice(2);
const module = loadModule(
  readFileSync(new URL('../../wasm/full/turncore-full.wasm', import.meta.url)),
);
const files = readdirSync(folder).filter((name) => name.endsWith('.journal'));
const random = mulberry32(1);
const total = { journals: 0, entries: 0, failed: 0 };

/** The module, as far as a replay uses it, with collections forced between steps. */
const collecting = {
  hash: () => module.hash(),
  instantiate: async (options) => {
    const instance = await module.instantiate(options);
    const step = instance.step.bind(instance);
    instance.step = (batch) => {
      if (random() % 256 === 0) globalThis.gc();
      return step(batch);
    };
    return instance;
  },
};

for (const name of files) {
  total.journals++;
  try {
    const report = await replay(readFileSync(join(folder, name)), collecting, {
      gcPercent: 1,
    });
    total.entries += report.entries;
    if (report.difference === undefined) continue;
    console.log(`FAIL  ${name}:`, JSON.stringify(report.difference));
  } catch (error) {
    console.log(`FAIL  ${name}: ${error}`);
  }
  total.failed++;
}
console.log(
  `${total.journals} journals replayed in Node, ${total.entries} steps, ${total.failed} differ`,
);
process.exitCode = total.failed === 0 && total.journals > 0 ? 0 : 1;

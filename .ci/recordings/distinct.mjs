// Removes the journals of a folder that say what another one there says but for their first entry, in which a host
// gives its entropy: what several engines have recorded of the same turns is replayed once. Usage:
//
//   node .ci/recordings/distinct.mjs FOLDER
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { readJournal } from '../../js/dist/journal/reader.js';

const [folder] = process.argv.slice(2);
const files = readdirSync(folder).filter((name) => name.endsWith('.journal'));
const seen = new Set();
for (const name of files) {
  const { entries, damage } = readJournal(readFileSync(join(folder, name)));
  if (damage !== undefined) continue; // who replays it says so
  const hash = createHash('sha256');
  for (const [i, entry] of entries.entries()) {
    for (const bytes of i === 0 ? [entry.out] : [entry.in, entry.out]) {
      hash.update(`${bytes.length}:`).update(bytes);
    }
  }
  const key = hash.digest('hex');
  if (seen.has(key)) rmSync(join(folder, name));
  else seen.add(key);
}
console.log(`${seen.size} of ${files.length} journals are distinct`);

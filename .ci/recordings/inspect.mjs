// Shows every journal of a folder, whole and damaged, as the command of the npm package does, and compares that with
// what the Go command has shown. Usage:
//
//   node .ci/recordings/inspect.mjs damage FOLDER      adds damaged copies of some journals
//   node .ci/recordings/inspect.mjs compare FOLDER     behind TestInspectFolder
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { showJournal } from '../../js/dist/cli/inspect.js';
import { mulberry32 } from '../../js/dist/entropy.js';

/** Why a journal cannot be read, which each reader says in its own words. */
const reasons = /(E_INVALID_JOURNAL: The journal cannot be read).*/g;

const [what, folder] = process.argv.slice(2);
const files = readdirSync(folder).filter((name) => name.endsWith('.journal'));
if (what === 'damage') damage();
else compare();

function damage() {
  const random = mulberry32(1);
  for (const name of files.filter((_, i) => i % 10 === 0)) {
    const bytes = readFileSync(join(folder, name));
    for (let i = 0; i < 3; i++) bytes[random() % bytes.length] ^= 1 << (random() % 8);
    writeFileSync(join(folder, `damaged-${name}`), bytes);
  }
}

function compare() {
  let different = 0;
  for (const name of files) {
    const bytes = readFileSync(join(folder, name));
    let shown = '';
    for (const [json, verbose] of [[], [false, true], [true, false]]) {
      const write = (line) => (shown += `${line.map(([, text]) => text).join('')}\n`);
      try {
        showJournal(bytes, { file: join(folder, name), json, verbose }, write);
      } catch (error) {
        write([['', error.message.slice(folder.length)]]);
      }
    }
    const want = readFileSync(join(folder, name.replace(/journal$/, 'shown')), 'utf8');
    const [a, b] = [
      want.replace(reasons, '$1').split('\n'),
      shown.replace(reasons, '$1').split('\n'),
    ];
    if (a.join('\n') === b.join('\n')) continue;
    different++;
    const at = a.findIndex((line, i) => line !== b[i]);
    console.log(`FAIL  ${name}, line ${at + 1}\n  go: ${a[at]}\n  js: ${b[at]}`);
  }
  console.log(`${files.length} journals shown, ${different} differ`);
  process.exitCode = files.length > 0 && different === 0 ? 0 : 1;
}

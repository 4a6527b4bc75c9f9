// Compares logs of the conformance corpus: a whole one, and those of hosts that played a part of it.
//
//   node sections.mjs WHOLE-LOG PART LOG...      PART: 2/5 is the second fifth of the scenarios, 1/1 is all
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

import { readCorpus } from './corpus.mjs';
import { partOf } from './play.mjs';

/** The log's sections of the scenarios in files, and of the variants of these in which a storage call fails. */
export function sections(text, files) {
  const ids = new Set(files.flatMap(({ scenarios }) => scenarios.map(({ id }) => id)));
  const mine = (section) => {
    const [, id] = /^# (\S+)/.exec(section);
    return ids.has(id);
  };
  const found = text.split(/^(?=# )/m).filter(mine);
  if (found.length === 0) throw new Error('the log holds no scenario of the part');
  return found;
}

/** What is wrong with a log that should hold these sections, if anything: the first line that differs. */
export function difference(text, wanted) {
  if (text === wanted.join('')) return [];
  const is = text.split('\n');
  const should = wanted.join('').split('\n');
  let at = 0;
  while (is[at] === should[at]) at += 1;
  const scenario = should.slice(0, at + 1).findLast((line) => line.startsWith('# '));
  return [`${scenario}: the log says\n${is[at]}\ninstead of\n${should[at]}`];
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [whole, part, ...logs] = process.argv.slice(2);
  if (logs.length === 0) throw new Error('no log given');
  const wanted = sections(await readFile(whole, 'utf8'), partOf(await readCorpus(), part));
  for (const log of logs) {
    for (const wrong of difference(await readFile(log, 'utf8'), wanted)) {
      console.log(`FAILED ${log}: ${wrong}`);
      process.exitCode = 1;
    }
  }
}

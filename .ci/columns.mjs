// Checks that text has at most 120 columns: comments of code, and paragraphs of Markdown. Code, tables and samples may
// have more, and a line of one word.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const COLUMNS = 120;
const script = /^\s*(?:\/\/|\*) (\S.*)/;
const comments = {
  go: /^\s*\/\/ ( *- .*|\S.*)/,
  ts: script,
  mjs: script,
  sh: /^\s*# (\S.*)/,
  md: /^([^|#<].*)/,
};
const generated = /generated .*do not edit/i;
/** What looks like a comment: an assignment through a pointer, the ways of calling a script. */
const code = /^(\*\S+ =|(node|.ci\/)\S*\.\w+ )/;

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard']).toString().split('\n');
const long = [];
let read = 0;
for (const file of files) {
  const kind = file === '.ci/run' ? 'sh' : file.split('.').at(-1);
  if (!(kind in comments) || /(^|\/)(testdata|dist)\//.test(file) || !existsSync(file)) continue;
  const text = readFileSync(file, 'utf8');
  if (generated.test(text.slice(0, 400))) continue;
  read++;
  let sample = false;
  for (const [i, line] of text.split('\n').entries()) {
    if (kind === 'md' && line.trimStart().startsWith('```')) sample = !sample;
    if (sample || line.length <= COLUMNS) continue;
    const words = comments[kind].exec(line)?.[1];
    if (words === undefined || !/\S\s\S/.test(words) || code.test(words)) continue;
    long.push(`${file}:${i + 1}`);
  }
}
for (const place of long) console.error(`${place}: more than ${COLUMNS} columns`);
console.log(`${read} files with text of at most ${COLUMNS} columns`);
process.exit(long.length === 0 && read > 0 ? 0 : 1);

// Takes the programs out of README.md: writes every code block that is a whole
// program to a folder. Usage: node .ci/readme.mjs GO_FOLDER JS_FOLDER
//
// A whole program is a `go` block with a main package, or a `js` or `ts` block
// that imports the package. The first of each language is the hello-world and
// must fit 15 lines.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const helloLines = 15;
const [goFolder, jsFolder] = process.argv.slice(2);
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const found = { go: 0, js: 0 };

for (const [, tag, code] of readme.matchAll(/^```(go|js|ts)\n(.*?)^```$/gms)) {
  const language = tag === 'go' ? 'go' : 'js';
  const whole = language === 'go' ? /^package main$/m : /from '(turncore)(\/[\w.]+)?'/;
  if (!whole.test(code)) continue;

  const number = ++found[language];
  const lines = code.split('\n').filter((line) => line.trim() !== '').length;
  if (number === 1 && lines > helloLines) {
    throw new Error(
      `the first ${language} program of README.md has ${lines} lines, ${helloLines} allowed`,
    );
  }
  const folder = language === 'go' ? join(goFolder, String(number)) : jsFolder;
  mkdirSync(folder, { recursive: true });
  const name = language === 'go' ? 'main.go' : `readme-${number}.${tag === 'ts' ? 'mts' : 'mjs'}`;
  writeFileSync(join(folder, name), code);
}

for (const [language, number] of Object.entries(found)) {
  if (number === 0) throw new Error(`README.md holds no ${language} program`);
}

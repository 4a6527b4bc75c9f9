// Takes the programs out of README.md and the pages of docs/: writes every code
// block that is a whole program to a folder. Usage:
// node .ci/readme.mjs GO_FOLDER JS_FOLDER
//
// A whole program is a `go` block with a main package, or a `js` or `ts` block
// that imports the package. The first of each language in README.md is the
// hello-world and must be short. What needs a page is played by the lane demo,
// and an agent with its test is what `turncore agent new` writes, which the
// command's own tests build and run.
// A `go` block that begins with a file's name in a comment is that file of the
// page's package, which has tests.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const helloLines = { go: 32, js: 15 }; // that are not empty
const [goFolder, jsFolder] = process.argv.slice(2);
const needsPage = (code) => /from '@|\bdocument\./.test(code);
const isAgent = (code) => /\/(wasm\/agent|host\/agents\/build)"/.test(code);
const root = new URL('../', import.meta.url);
const pages = readdirSync(new URL('docs/', root)).filter((name) => name.endsWith('.md'));

for (const page of ['README.md', 'js/README.md', ...pages.sort().map((name) => `docs/${name}`)]) {
  const text = readFileSync(new URL(page, root), 'utf8');
  const name = page === 'js/README.md' ? 'npm' : basename(page, '.md').toLowerCase();
  const found = { go: 0, js: 0 };
  for (const [, tag, code] of text.matchAll(/^```(go|js|ts)\n(.*?)^```$/gms)) {
    const [, goFile] = code.match(/^\/\/ (\w+\.go)\n/) ?? [];
    if (goFile !== undefined) {
      const folder = join(goFolder, `${name}-package`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, goFile), code);
      continue;
    }
    const language = tag === 'go' ? 'go' : 'js';
    const whole = language === 'go' ? /^package main$/m : /from '(turncore)(\/[\w.]+)?'/;
    if (!whole.test(code) || needsPage(code) || isAgent(code)) continue;

    const number = ++found[language];
    const lines = code.split('\n').filter((line) => line.trim() !== '').length;
    if (page === 'README.md' && number === 1 && lines > helloLines[language]) {
      throw new Error(
        `the first ${language} program of ${page} has ${lines} lines, ${helloLines[language]} allowed`,
      );
    }
    const folder = language === 'go' ? join(goFolder, `${name}-${number}`) : jsFolder;
    mkdirSync(folder, { recursive: true });
    const extension = tag === 'ts' ? 'mts' : 'mjs';
    const file = language === 'go' ? 'main.go' : `program-${name}-${number}.${extension}`;
    writeFileSync(join(folder, file), code);
  }
  for (const [language, number] of Object.entries(found)) {
    if (page === 'README.md' && number === 0)
      throw new Error(`${page} holds no ${language} program`);
  }
}

// Checks the links of all Markdown files in the repository: the file and the
// heading that a relative link names must be there.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'])
  .toString()
  .split('\n')
  .filter((page) => page !== '' && existsSync(page));

/** The anchors of a page, made of its headings as GitHub makes them. */
function anchors(page) {
  const found = new Set();
  const text = readFileSync(page, 'utf8').replace(/^```.*?^```/gms, '');
  for (const [, heading] of text.matchAll(/^#+ +(.+?) *$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    found.add(plain.replace(/[^\p{L}\p{N}\- _]/gu, '').replaceAll(' ', '-'));
  }
  return found;
}

const dead = [];
let links = 0;
for (const page of pages) {
  const text = readFileSync(page, 'utf8').replace(/^```.*?^```/gms, '');
  for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(target)) continue;
    links++;
    const [path, anchor] = target.split('#');
    const file = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(file)) dead.push(`${page}: ${target}: no such file`);
    else if (anchor !== undefined && file.endsWith('.md') && !anchors(file).has(anchor)) {
      dead.push(`${page}: ${target}: no such heading`);
    }
  }
}
for (const line of dead) console.error(line);
console.log(`${links} links in ${pages.length} pages`);
process.exit(dead.length === 0 && links > 0 ? 0 : 1);

// What docs/hosts.md shows: programs, commands, a page and its policy.
import { readFile } from 'node:fs/promises';

const page = await readFile(new URL('../../../docs/hosts.md', import.meta.url), 'utf8');
const blocks = Array.from(page.matchAll(/^```(\w+)\n(.*?)^```$/gms), ([, language, text]) => ({
  language,
  text,
}));
const textsIn = (language) =>
  blocks.filter((block) => block.language === language).map(({ text }) => text);

/** The programs: their first lines are comments with the names of their files. */
export const programs = new Map(
  textsIn('javascript').map((text) => [/^\/\/ (\S+\.js)\n/.exec(text)?.[1], text]),
);
if (programs.has(undefined)) throw new Error('a program of docs/hosts.md has no name');

/** The page that loads page.js. */
export const [html] = textsIn('html');

/** The header of pages. */
export const policy = /^Content-Security-Policy: (.+)$/m.exec(textsIn('text').join(''))[1];

/** The command that begins with these words, and the lines behind it that copy files. */
export function commandOf(words) {
  for (const text of textsIn('sh')) {
    const lines = text.split('\n');
    const at = lines.findIndex((line) => line.startsWith(words));
    if (at < 0) continue;
    const end = lines.findIndex((line, i) => i > at && !line.startsWith('cp '));
    return lines.slice(at, end).join('\n');
  }
  throw new Error(`docs/hosts.md has no command ${words}`);
}

/**
 * What came of a program of the page.
 *
 * @param name of its file
 * @param said what it has said
 */
export function shows(name, said) {
  if (said.trim() === 'You said: hello') return { passed: [name], failures: [] };
  return { passed: [], failures: [`${name} of docs/hosts.md says ${said}`] };
}

/**
 * The agents of examples/agents, which build/agents has, with what plays them and the log that it gives in Go.
 */
import { readFile } from 'node:fs/promises';

const root = new URL('../../../', import.meta.url);
const text = (path) => readFile(new URL(path, root), 'utf8');

const folders = { research: 'research', moderation: 'moderation', panel: 'testdata/panel' };
export const names = Object.keys(folders);

/** One of them. */
export async function example(name) {
  return {
    file: new Uint8Array(await readFile(new URL(`build/agents/${name}.wasm`, root))),
    grant: JSON.parse(await text(`examples/agents/${folders[name]}/grant.json`)),
    play: JSON.parse(await text(`examples/agents/testdata/${name}.json`)),
    log: await text(`examples/agents/testdata/${name}.golden`),
  };
}

/** The lines of a log without ids of turns, which the page makes, and without digests of them. */
export function unnamed(log) {
  const ids = [...new Set(log.match(/(?<="turnId":")[^"]+/g))];
  const digest = /"digest":"\w+"/g;
  return ids
    .reduce((text, id, n) => text.replaceAll(id, `turn ${n}`), log)
    .replace(digest, '')
    .split('\n');
}

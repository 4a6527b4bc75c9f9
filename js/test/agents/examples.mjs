/**
 * The agents of examples/agents, which build/agents has, with what plays them and the log that it gives in Go.
 */
import { readFile } from 'node:fs/promises';

const root = new URL('../../../', import.meta.url);
const text = (path) => readFile(new URL(path, root), 'utf8');

export const names = ['research', 'moderation'];

/** One of them. */
export async function example(name) {
  return {
    file: new Uint8Array(await readFile(new URL(`build/agents/${name}.wasm`, root))),
    grant: JSON.parse(await text(`examples/agents/${name}/grant.json`)),
    play: JSON.parse(await text(`examples/agents/testdata/${name}.json`)),
    log: await text(`examples/agents/testdata/${name}.golden`),
  };
}

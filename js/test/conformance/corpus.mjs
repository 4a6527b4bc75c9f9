// The conformance corpora, of turns and of invocations, as files of this repository.
import { readdir, readFile } from 'node:fs/promises';

const testdata = new URL('../../../runtime/testdata/', import.meta.url);

/** Their files, read. Those about invocations say so. */
export async function readCorpus() {
  const turns = await filesOf('conformance/');
  const invocations = await filesOf('invocations/');
  return [...turns, ...invocations.map((file) => ({ ...file, invocations: true }))];
}

async function filesOf(folder) {
  const corpus = new URL(folder, testdata);
  const names = (await readdir(corpus)).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(new URL(name, corpus)))));
}

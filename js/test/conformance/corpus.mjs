// The conformance corpus as files of this repository.
import { readdir, readFile } from 'node:fs/promises';

/** Folder of the corpus. */
export const corpus = new URL('../../../runtime/testdata/conformance/', import.meta.url);

/** Its files, read. */
export async function readCorpus() {
  const names = (await readdir(corpus)).filter((name) => name.endsWith('.json')).sort();
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(new URL(name, corpus)))));
}

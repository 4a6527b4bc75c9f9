// Weighs files: as they are, and as a web server sends them.
//
//   node weigh.mjs FOLDER FILE...
//
// It prints a JSON object for each file. A module takes six seconds, once for the same bytes: FOLDER keeps what was
// said of them.
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

const [folder, ...files] = process.argv.slice(2);
// What is kept depends on these, too.
const source = await readFile(fileURLToPath(import.meta.url));
const { brotli, zlib } = process.versions;

await mkdir(folder, { recursive: true });
for (const weight of await Promise.all(files.map(weighed))) console.log(JSON.stringify(weight));

/** What a file weighs, as the folder keeps it or else as it is found out. */
async function weighed(file) {
  const data = await readFile(file);
  const sum = createHash('sha256').update(`${brotli} ${zlib}\n`).update(source).update(data);
  const path = join(folder, `${sum.digest('hex').slice(0, 32)}.json`);
  const kept = await readFile(path, 'utf8').catch(() => undefined);
  if (kept !== undefined) return JSON.parse(kept);
  const [zipped, small] = await Promise.all([
    promisify(gzip)(data, { level: 9 }),
    promisify(brotliCompress)(data), // at 11, the default
  ]);
  const weight = { raw: data.length, gzip: zipped.length, brotli: small.length };
  // In one step: others read it meanwhile.
  const written = join(folder, randomUUID());
  await writeFile(written, JSON.stringify(weight));
  await rename(written, path);
  return weight;
}

// Makes a package of the compiled tests: what `#…` names is then compiled with them, so that each class is there once.
import { copyFile, readFile, writeFile } from 'node:fs/promises';

const root = new URL('../', import.meta.url);
const { type, imports } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));
const own = JSON.stringify({ type, imports }).replaceAll('"./dist/', '"./src/');
await writeFile(new URL('build/package.json', root), own);
for (const module of ['turncore.wasm', 'turncore-full.wasm']) {
  await copyFile(new URL(`dist/${module}`, root), new URL(`build/src/${module}`, root));
}

// Puts the files that tsc does not make into the package: the modules, what an import of one gives, and the licence.
import { copyFile } from 'node:fs/promises';

const assets = [
  ['../../wasm/core/turncore.wasm', '../dist/turncore.wasm'],
  ['../../wasm/full/turncore-full.wasm', '../dist/turncore-full.wasm'],
  ['../../wasm/core/turncore-js.wasm', '../dist/turncore-js.wasm'],
  ['../src/turncore.wasm.d.ts', '../dist/turncore.wasm.d.ts'],
  ['../../LICENSE', '../LICENSE'],
];

for (const [from, to] of assets) {
  try {
    await copyFile(new URL(from, import.meta.url), new URL(to, import.meta.url));
  } catch (error) {
    const hint = error.code === 'ENOENT' ? ' (run `make wasm` first)' : '';
    console.error(`cannot copy ${from}: ${error.message}${hint}`);
    process.exit(1);
  }
}

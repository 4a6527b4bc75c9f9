// Makes a bundled, minified file of each entry point, for pages without a bundler: dist/turncore.min.js and, for
// turncore/NAME, dist/NAME.min.js. What turncore.min.js holds, the others import from it: a page that loads two of them
// has each class once. What loads late has files of its own. Entry points of types alone have none.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import { transform } from 'esbuild';
import { rollup } from '@rollup/wasm-node';

const root = new URL('../', import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, root));
const { exports, imports } = JSON.parse(await readFile(new URL('package.json', root), 'utf8'));

const input = {};
for (const [subpath, { default: file }] of Object.entries(exports)) {
  if (!file?.endsWith('.js')) continue;
  input[subpath === '.' ? 'turncore' : subpath.slice('./'.length)] = path(file);
}

/** What each module imports when it loads. */
const imported = new Map();
const bundle = await rollup({
  input,
  external: /^node:/,
  preserveEntrySignatures: 'allow-extension',
  plugins: [
    {
      name: 'page',
      resolveId: (id) => (id in imports ? path(imports[id].browser) : null),
      moduleParsed: ({ id, importedIds }) => void imported.set(id, importedIds),
    },
  ],
  onwarn: (warning) => {
    if (warning.code !== 'EMPTY_BUNDLE') throw new Error(warning.message);
  },
});
const shared = reachable(input.turncore);
// One file for all that a first turn loads beside the module.
const engine = reachable(path('dist/engine/engine.js'));
const chunk = (id) => {
  if (shared.has(id)) return 'turncore';
  if (engine.has(id)) return 'engine';
  return id.endsWith('/remedies.gen.js') ? 'remedies' : undefined;
};
const { output } = await bundle.generate({
  format: 'es',
  entryFileNames: '[name].min.js',
  chunkFileNames: '[name].min.js',
  manualChunks: chunk,
});
for (const { fileName, code } of output) {
  if (code.trim() === '') continue;
  const minified = await transform(code, { minify: true, format: 'esm', target: 'es2022' });
  await writeFile(path(`dist/${fileName}`), minified.code);
}

/** A module and those that it loads. */
function reachable(id, found = new Set()) {
  if (found.has(id)) return found;
  found.add(id);
  for (const other of imported.get(id) ?? []) reachable(other, found);
  return found;
}

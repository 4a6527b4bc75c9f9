// Makes a bundled file of each entry point.
//
// For pages without a bundler, minified: dist/turncore.min.js and, for turncore/NAME, dist/NAME.min.js. What loads late
// has files of its own.
//
// For Node, Deno and Bun, which open every file of a program one after another: dist/turncore.node.js and
// dist/NAME.node.js. package.json names them under the condition `node`.
//
// What the file of turncore holds, the others import from it: a program that loads two of them has each class once.
// Entry points of types alone have none.
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

const es2022 = { format: 'esm', target: 'es2022' };
const printed = async (code, how) => (await transform(code, { ...es2022, ...how })).code;

await write('browser', '.min.js', (code) => printed(code, { minify: true }));
// V8 keeps the text of what it has loaded, and each character in two bytes if one is no Latin letter: these files have
// no comments and ASCII alone, in lines, for traces of the stack.
await write('node', '.node.js', async (code) =>
  printed(await printed(code, { minifyWhitespace: true })),
);

/** Writes the files for a platform, which says what `#…` stands for. */
async function write(condition, ending, finish) {
  /** What each module imports when it loads. */
  const imported = new Map();
  const bundle = await rollup({
    input,
    external: /^node:/,
    preserveEntrySignatures: 'allow-extension',
    plugins: [
      {
        name: condition,
        resolveId: (id) =>
          id in imports ? path(imports[id][condition] ?? imports[id].default) : null,
        moduleParsed: ({ id, importedIds }) => void imported.set(id, importedIds),
      },
    ],
    onwarn: (warning) => {
      if (warning.code !== 'EMPTY_BUNDLE') throw new Error(warning.message);
    },
  });
  const shared = reachable(imported, input.turncore);
  // One file for all that a page's first turn loads beside the module.
  const engine = reachable(imported, path('dist/engine/engine.js'));
  const { output } = await bundle.generate({
    format: 'es',
    entryFileNames: `[name]${ending}`,
    chunkFileNames: `[name]${ending}`,
    manualChunks: (id) => {
      if (shared.has(id)) return 'turncore';
      if (engine.has(id)) return 'engine';
      return id.endsWith('/remedies.gen.js') ? 'remedies' : undefined;
    },
  });
  for (const { fileName, code } of output) {
    if (code.trim() !== '') await writeFile(path(`dist/${fileName}`), await finish(code));
  }
}

/** A module and those that it loads. */
function reachable(imported, id, found = new Set()) {
  if (found.has(id)) return found;
  found.add(id);
  for (const other of imported.get(id) ?? []) reachable(imported, other, found);
  return found;
}

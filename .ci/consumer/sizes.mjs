// What a page downloads of the package: bundles programs as Vite does, minifies every chunk, and weighs it as a web
// server sends it, after brotli 11. Prints a line for each bound, and fails beyond one.
//
//   node sizes.mjs FOLDER   FOLDER is the package
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

const tools = createRequire(new URL('../../js/package.json', import.meta.url));
const { rollup } = tools('@rollup/wasm-node');
const { transform } = tools('esbuild');

/** Programs, and the most bytes of what they import when they load and of what their first turn loads. */
const PROGRAMS = [
  {
    program: await hello(),
    imports: ['JavaScript that a program with `createRunner` imports', 35_200],
    loads: ['… that its first turn loads, beside the module', 39_000],
  },
  {
    program: "import { Tool } from 'turncore';\nglobalThis.tool = Tool;\n",
    imports: ['… that `import { Tool }` takes by itself', 10_000],
  },
];

/** How far the README may be off, since a small change of the sources should not change it. */
const ROUGHLY = 0.02;

const folder = resolve(process.argv[2]);
const { exports, imports } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
const readme = await readFile(join(folder, 'README.md'), 'utf8');
const scratch = await mkdtemp(join(tmpdir(), 'turncore-sizes-'));
try {
  for (const { program, imports, loads } of PROGRAMS) {
    const chunks = await bundle(program);
    const first = reach(chunks, ['main.js']);
    say(imports, weigh(chunks, first));
    if (loads === undefined) continue;
    // Tools, models and artifacts load more.
    const engine = Object.keys(chunks).filter((file) => /^(engine|remedies)\b/.test(file));
    const more = [...reach(chunks, engine)].filter((file) => !first.has(file));
    say(loads, weigh(chunks, more));
  }
} finally {
  await rm(scratch, { recursive: true });
}

/** The program of the README's first example. */
async function hello() {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  return /```js\n([^]*?)```/.exec(readme)[1];
}

/** The chunks of a program by file: the files that each imports when it loads, and its bytes. */
async function bundle(program) {
  const input = join(scratch, 'main.js');
  await writeFile(input, program);
  const bundled = await rollup({
    input,
    external: /^node:/,
    treeshake: { moduleSideEffects: false }, // as package.json says
    plugins: [{ name: 'package', resolveId: (id) => found(id) }],
  });
  const { output } = await bundled.generate({ format: 'es', chunkFileNames: '[name].js' });
  const chunks = {};
  for (const { fileName, code, imports } of output) {
    const { code: minified } = await transform(code, { minify: true, format: 'esm' });
    chunks[fileName] = { imports, bytes: brotliCompressSync(minified).length };
  }
  return chunks;
}

/** Where a page's bundler finds an entry of the package, and what `#…` stands for in it. */
function found(id) {
  if (id.startsWith('#')) return join(folder, imports[id].browser);
  if (id === 'turncore') return join(folder, exports['.'].default);
  return null;
}

/** Files and what they import when they load. */
function reach(chunks, files, reached = new Set()) {
  for (const file of files) {
    if (reached.has(file) || chunks[file] === undefined) continue;
    reached.add(file);
    reach(chunks, chunks[file].imports, reached);
  }
  return reached;
}

function weigh(chunks, files) {
  return [...files].reduce((sum, file) => sum + chunks[file].bytes, 0);
}

/** Prints a row of the README's table as it is. Fails beyond the bound, and if the README says otherwise. */
function say([row, most], bytes) {
  console.log(`${row}: ${bytes} bytes of ${most}`);
  const line = readme.split('\n').find((each) => each.startsWith(`| ${row} `));
  const told = Number((line ?? '').split('|')[2]?.replaceAll(',', ''));
  const wrong = [
    ...(bytes > most ? [`${bytes - most} bytes too many`] : []),
    ...(Math.abs(told - bytes) <= bytes * ROUGHLY ? [] : [`the README says ${told}`]),
  ];
  for (const why of wrong) console.error(`${row}: ${why}`);
  if (wrong.length > 0) process.exitCode = 1;
}

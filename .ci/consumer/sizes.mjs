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

/** The most bytes of what a program imports when it loads, and of that and all that its turn loads later. */
const BOUNDS = {
  "the README's first program": { program: await hello(), first: 35_000, whole: 68_000 },
  'import { Tool }': {
    program: "import { Tool } from 'turncore';\nglobalThis.tool = Tool;\n",
    first: 10_000,
  },
};

const folder = resolve(process.argv[2]);
const { exports, imports } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
const scratch = await mkdtemp(join(tmpdir(), 'turncore-sizes-'));
try {
  for (const [name, { program, first, whole }] of Object.entries(BOUNDS)) {
    const chunks = await bundle(program);
    say(`${name}: JavaScript of the first load`, weigh(reach(chunks, ['main.js'])), first);
    // A turn loads the engine; tools, models, artifacts and errors load more.
    const engine = Object.keys(chunks).filter((file) => file.startsWith('engine'));
    if (whole !== undefined) {
      say(`${name}: with what its turn loads`, weigh(reach(chunks, ['main.js', ...engine])), whole);
    }
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
  return [...reached].map((file) => chunks[file].bytes);
}

function weigh(bytes) {
  return bytes.reduce((sum, each) => sum + each, 0);
}

function say(what, bytes, most) {
  console.log(`${what}: ${bytes} bytes of ${most}`);
  if (bytes <= most) return;
  console.error(`${what}: ${bytes - most} bytes too many`);
  process.exitCode = 1;
}

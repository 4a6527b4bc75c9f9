// Bundlers: what each makes of the program, by its command in docs/hosts.md, is opened in Chromium.
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { browsers } from './browsers.mjs';
import { importInstalled } from './installed.mjs';
import { html, PAGE, playAt, playPage, textAt, textOf } from './pages.mjs';
import { runToEnd } from './processes.mjs';
import { environment } from './project.mjs';
import { commandOf, shows } from './shown.mjs';

/** How the command of each begins, the folder that it writes, and the script in it; Vite writes the page itself. */
const tools = {
  Vite: { words: 'npx vite build', out: 'dist' },
  webpack: { words: 'npx webpack', out: 'dist', script: 'main.js' },
  Rollup: { words: 'npx rollup', out: 'out', script: 'page.js' },
  esbuild: { words: 'npx esbuild', out: 'out', script: 'page.js' },
  'bun build': { words: 'bun build', out: 'out', script: 'page.js' },
};

/** Bundles page.js of a project. @returns the folder with the page */
async function bundle(folder, { words, out, script }) {
  const to = join(folder, out);
  await rm(to, { recursive: true, force: true });
  await writeFile(join(folder, 'index.html'), html('/page.js'));
  const shell = ['-ec', `{ ${commandOf(words)}\n} 2>&1`];
  const said = await runToEnd('sh', shell, { cwd: folder, env: environment });
  // webpack has a word about each module of this size.
  const expected = /size limit|performance recommendations|compiled with/;
  const warnings = said.split('\n').filter((line) => /\bwarning\b/i.test(line));
  if (warnings.some((line) => !expected.test(line))) throw new Error(said);
  if (script !== undefined) await writeFile(join(to, 'index.html'), html(script));
  await oneModule(folder, to);
  return to;
}

const built = Object.entries(tools).map(([name, tool]) => ({
  name,
  delivered: { folder: tool.out },
  async play({ folder }, parts) {
    await writeFile(join(folder, 'page.js'), PAGE);
    return playPage(browsers.Chromium, await bundle(folder, tool), '', parts);
  },
  async show({ shown }) {
    return shows('page.js', await textOf(browsers.Chromium, await bundle(shown, tool)));
  },
}));

/** What is bundled brings the module that it uses, and no other. */
async function oneModule(folder, out) {
  const paths = await readdir(out, { recursive: true });
  const modules = paths.filter((path) => path.endsWith('.wasm'));
  const sizes = await Promise.all(modules.map(async (path) => (await stat(join(out, path))).size));
  const { size } = await stat(join(folder, 'node_modules/turncore/dist/turncore.wasm'));
  if (sizes.length !== 1 || sizes[0] !== size) throw new Error(`the modules ${modules.join()}`);
}

/** Vite's development server, which serves the package as it lies in node_modules, to a visitor. */
async function develop(folder, visit) {
  await writeFile(join(folder, 'index.html'), html('/page.js'));
  const { createServer } = await importInstalled('vite');
  const server = await createServer({
    root: folder,
    logLevel: 'error',
    server: { host: '127.0.0.1', port: 0, hmr: false },
  });
  try {
    await server.listen();
    return await visit(`http://127.0.0.1:${server.httpServer.address().port}/`);
  } finally {
    await server.close();
  }
}

const viteServer = {
  name: "Vite's development server",
  async play({ folder }, parts) {
    await writeFile(join(folder, 'page.js'), PAGE);
    return develop(folder, (address) => playAt(browsers.Chromium, address, parts));
  },
  async show({ shown }) {
    const text = await develop(shown, (address) => textAt(browsers.Chromium, address));
    return shows('page.js', text);
  },
};

export const bundlers = [...built, viteServer];

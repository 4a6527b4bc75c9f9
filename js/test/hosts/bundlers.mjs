// Bundlers: what each makes of the program is opened in Chromium.
import { cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import * as rollupJS from '@rollup/wasm-node';
import { build as esbuild } from 'esbuild';

import { browsers } from './browsers.mjs';
import { importInstalled, installed } from './installed.mjs';
import { html, PAGE, playAt, playPage } from './pages.mjs';
import { runToEnd } from './processes.mjs';

/** What users of a bundler that does not follow `new URL(…, import.meta.url)` add to their build. */
const copyModule = (folder, out) =>
  cp(join(folder, 'node_modules/turncore/dist/turncore.wasm'), join(out, 'turncore.wasm'));

/** Each bundles page.js of a project into a folder. */
const builds = {
  async Vite(folder, out) {
    const { build } = await importInstalled('vite');
    await build({ root: folder, logLevel: 'error', build: { outDir: out, emptyOutDir: true } });
  },

  async webpack(folder, out) {
    const { default: webpack } = await importInstalled('webpack');
    const compiler = webpack({
      context: folder,
      mode: 'production',
      entry: './page.js',
      output: { path: out, filename: 'page.js', clean: true },
      performance: { hints: false },
    });
    const stats = await new Promise((resolve, reject) =>
      compiler.run((error, made) => (error ? reject(error) : resolve(made))),
    );
    await new Promise((resolve) => compiler.close(resolve));
    if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString());
  },

  async Rollup(folder, out) {
    const { nodeResolve } = await importInstalled('@rollup/plugin-node-resolve');
    const bundle = await rollupJS.rollup({
      input: join(folder, 'page.js'),
      plugins: [nodeResolve({ browser: true })],
      onwarn: (warning) => {
        throw new Error(warning.message);
      },
    });
    await bundle.write({ dir: out });
    await copyModule(folder, out);
  },

  async esbuild(folder, out) {
    await esbuild({
      absWorkingDir: folder,
      entryPoints: ['page.js'],
      bundle: true,
      minify: true,
      format: 'esm',
      outdir: out,
      logLevel: 'warning',
    });
    await copyModule(folder, out);
  },

  async 'bun build'(folder, out) {
    const flags = ['--minify', '--target=browser', '--format=esm', `--outdir=${out}`];
    const bun = installed('@oven/bun-linux-x64/bin/bun');
    await runToEnd(bun, ['build', 'page.js', ...flags], { cwd: folder });
    await copyModule(folder, out);
  },
};

const built = Object.entries(builds).map(([name, build]) => ({
  name,
  async play({ folder }, parts) {
    const out = join(folder, 'out');
    await rm(out, { recursive: true, force: true });
    await mkdir(out);
    await writeFile(join(folder, 'page.js'), PAGE);
    await writeFile(join(folder, 'index.html'), html('/page.js'));
    await build(folder, out);
    if (name !== 'Vite') await cp(join(folder, 'index.html'), join(out, 'index.html'));
    await oneModule(folder, out);
    return playPage(browsers.Chromium, out, '', parts);
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

/** Vite's development server, which serves the package as it lies in node_modules. */
const viteServer = {
  name: "Vite's development server",
  async play({ folder }, parts) {
    await writeFile(join(folder, 'page.js'), PAGE);
    await writeFile(join(folder, 'index.html'), html('/page.js'));
    const { createServer } = await importInstalled('vite');
    const server = await createServer({
      root: folder,
      logLevel: 'error',
      server: { host: '127.0.0.1', port: 0, hmr: false },
    });
    try {
      await server.listen();
      const address = `http://127.0.0.1:${server.httpServer.address().port}/`;
      return await playAt(browsers.Chromium, address, parts);
    } finally {
      await server.close();
    }
  },
};

export const bundlers = [...built, viteServer];

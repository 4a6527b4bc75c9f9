// The page with the tests of IndexedDB.
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { startPackageServer } from '../browser/package-server.mjs';
import { dist, packageUnderTest } from '../smoke/package-folder.mjs';

/** For esbuild: the package's own files. */
const internals = {
  name: 'internals of the package',
  setup({ onResolve }) {
    onResolve({ filter: /^turncore-internal\// }, ({ path }) => ({
      path: fileURLToPath(new URL(path.replace('turncore-internal/', ''), dist)),
    }));
  },
};

/** Serves it, and other files. @returns what startPackageServer gives; the page is /page/index.html */
export async function servePage(files = {}) {
  const bundle = await build({
    entryPoints: [fileURLToPath(new URL('indexeddb-page.mjs', import.meta.url))],
    bundle: true,
    format: 'esm',
    write: false,
    plugins: [packageUnderTest, internals],
    logLevel: 'warning',
  });
  const page =
    '<!doctype html><title>stores</title><script type="module" src="/page/p.mjs"></script>';
  return startPackageServer({
    files: { ...files, '/page/index.html': page, '/page/p.mjs': bundle.outputFiles[0].contents },
  });
}

// Where the package under test is: what npm would install, if TURNCORE_PACKAGE says where, else the build here.
import { access } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const folder = process.env.TURNCORE_PACKAGE ?? fileURLToPath(new URL('../../', import.meta.url));

/** Folder of the built package's files, as a URL with a slash at its end. */
export const dist = new URL('dist/', pathToFileURL(`${folder.replace(/\/$/, '')}/`));

await access(new URL('turncore.wasm', dist)).catch(() => {
  throw new Error(
    `${dist.pathname} holds no built package: run \`make test LANES="browser workerd"\``,
  );
});

/** For esbuild: the package's entry points, by the conditions of the build. */
export const packageUnderTest = {
  name: 'package under test',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^turncore(\/|$)/ }, ({ path, kind, pluginData }) =>
      pluginData === packageUnderTest
        ? undefined
        : resolve(path, { kind, resolveDir: fileURLToPath(dist), pluginData: packageUnderTest }),
    );
  },
};

/** What the package's entry point `turncore` gives. */
export function importPackage() {
  return import(new URL('index.js', dist));
}

/** What the entry point `turncore/host` gives. */
export function importHost() {
  return import(new URL('entries/host.js', dist));
}

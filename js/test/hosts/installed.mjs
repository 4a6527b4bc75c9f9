// What the lane installed: hosts and bundlers, in the folder that TURNCORE_HOSTS names.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = process.env.TURNCORE_HOSTS;
if (folder === undefined) throw new Error('run `make test LANES=hosts`, which installs the hosts');
const require = createRequire(join(folder, 'package.json'));

/** Path of a file in an installed package. */
export function installed(path) {
  return join(folder, 'node_modules', path);
}

/** Imports an installed package. */
export function importInstalled(name) {
  return import(pathToFileURL(require.resolve(name)));
}

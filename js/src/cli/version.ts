/**
 * turncore version.
 */
import { readFile } from 'node:fs/promises';

import { ABI_MAJOR, ABI_MINOR } from '../abi/frames.gen.js';
import { loadModule } from '../instance/module.js';
import { fullModuleURL } from '../wasm.js';
import { HELP, UsageError } from './usage.js';

/** Shows versions. @throws UsageError */
export async function version(args: string[]): Promise<boolean> {
  if (args.length > 0) {
    if (args[0] !== '-h' && args[0] !== '--help') {
      throw new UsageError('version', 'it takes no arguments');
    }
    process.stdout.write(HELP['version']!);
    return true;
  }
  const file = new URL('../../package.json', import.meta.url);
  const { version: own } = JSON.parse(await readFile(file, 'utf8')) as { version: string };
  const module = await loadModule(fullModuleURL)
    .hash()
    .catch(() => 'none');
  process.stdout.write(
    `turncore ${own}\nabi ${ABI_MAJOR}.${ABI_MINOR}\nnode ${process.version}\nmodule ${module}\n`,
  );
  return true;
}

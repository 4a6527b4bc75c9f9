// Starts workerd with the package in it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';
import workerd from 'workerd';

import { packageUnderTest } from '../smoke/package-folder.mjs';

/** What the worker may rely on; later dates than the installed workerd knows are refused. */
const COMPATIBILITY = '2026-01-01';

/**
 * Starts it on a free port.
 *
 * @param provider address, as host:port, that all requests of the worker go to
 * @param worker file of the Worker
 * @param flags that it is compatible with
 * @param module file of the core module, if it is not the package's
 * @param disk folder of the storage of Durable Objects; `objects` are their classes, each with SQL or without
 * @returns its address without a final slash, what it wrote to stderr, and a function that stops it
 */
export async function startWorkerd(
  provider,
  { worker = 'worker.mjs', flags = [], module, disk, objects = {} } = {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'turncore-workerd-'));
  await layOut(folder, worker, flags, objects);
  if (module !== undefined) await copyFile(module, join(folder, 'turncore.wasm'));
  const child = spawn(
    workerd.default ?? workerd,
    [
      'serve',
      'config.capnp',
      '--socket-addr=http=127.0.0.1:0',
      `--external-addr=provider=${provider}`,
      '--control-fd=3',
      ...(disk === undefined ? [] : [`--directory-path=disk=${disk}`]),
    ],
    { cwd: folder, stdio: ['ignore', 'inherit', 'pipe', 'pipe'] },
  );
  const exit = once(child, 'exit');
  let stderr = '';
  child.stderr.on('data', (data) => (stderr += data));
  const stop = async () => {
    child.kill('SIGKILL');
    await exit.catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const port = await new Promise((resolve, reject) => {
      let said = '';
      child.stdio[3].on('data', (data) => {
        said += data;
        const found = /"event":"listen".*?"port":(\d+)/.exec(said);
        if (found !== null) resolve(found[1]);
      });
      exit.then(([code]) => reject(new Error(`workerd ended with ${code}: ${stderr}`)), reject);
    });
    return { address: `http://127.0.0.1:${port}`, stderr: () => stderr, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Puts the worker, bundled with the package, and the configuration in a folder. */
async function layOut(folder, worker, flags, objects) {
  await build({
    entryPoints: { worker: resolve(fileURLToPath(new URL('.', import.meta.url)), worker) },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    plugins: [packageUnderTest],
    loader: { '.wasm': 'copy' },
    assetNames: '[name]',
    logLevel: 'warning',
  });
  const classes = Object.entries(objects);
  const namespaces = classes.map(
    ([name, { sql }]) => `(className = "${name}", uniqueKey = "${name}", enableSql = ${sql})`,
  );
  const bindings = classes.map(
    ([name]) => `(name = "${name}", durableObjectNamespace = "${name}")`,
  );
  const storage = `
  durableObjectNamespaces = [${namespaces}],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [${bindings}],`;
  const disk = '\n    (name = "disk", disk = (writable = true)),';
  await writeFile(
    join(folder, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "provider", external = (http = ())),${classes.length > 0 ? disk : ''}
  ],
  sockets = [(name = "http", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  compatibilityDate = "${COMPATIBILITY}",
  compatibilityFlags = ${JSON.stringify(flags)},
  globalOutbound = "provider",${classes.length > 0 ? storage : ''}
  modules = [
    (name = "worker.mjs", esModule = embed "worker.mjs"),
    (name = "turncore.wasm", wasm = embed "turncore.wasm"),
  ],
);
`,
  );
}

// Starts workerd with a Durable Object whose SQLite lies in a folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';
import workerd from 'workerd';

import { packageUnderTest } from '../smoke/package-folder.mjs';

const config = (data) => `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "data", disk = (path = ${JSON.stringify(data)}, writable = true)),
  ],
  sockets = [(name = "http", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  compatibilityDate = "2026-01-01",
  modules = [
    (name = "worker.mjs", esModule = embed "worker.mjs"),
    (name = "turncore.wasm", wasm = embed "turncore.wasm"),
    (name = "turncore-full.wasm", wasm = embed "turncore-full.wasm"),
  ],
  bindings = [(name = "stored", durableObjectNamespace = "Stored")],
  durableObjectNamespaces = [(className = "Stored", uniqueKey = "stored", enableSql = true)],
  durableObjectStorage = (localDisk = "data"),
);
`;

/** Lays out the worker and its configuration in a folder. */
export async function layOut(folder) {
  const data = join(folder, 'data');
  await mkdir(data, { recursive: true });
  await build({
    entryPoints: { worker: fileURLToPath(new URL('durable-object.worker.mjs', import.meta.url)) },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:workers'],
    plugins: [packageUnderTest],
    loader: { '.wasm': 'copy' },
    assetNames: '[name]',
    logLevel: 'warning',
  });
  await writeFile(join(folder, 'config.capnp'), config(data));
}

/** Starts workerd in a folder. @returns its address, and a function that kills it */
export async function start(folder) {
  const args = ['serve', 'config.capnp', '--socket-addr=http=127.0.0.1:0', '--control-fd=3'];
  const child = spawn(workerd.default ?? workerd, args, {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
  });
  const exit = once(child, 'exit');
  let stderr = '';
  child.stderr.on('data', (data) => (stderr += data));
  const port = await new Promise((resolve, reject) => {
    let said = '';
    child.stdio[3].on('data', (data) => {
      said += data;
      const found = /"event":"listen".*?"port":(\d+)/.exec(said);
      if (found !== null) resolve(found[1]);
    });
    exit.then(([code]) => reject(new Error(`workerd ended with ${code}: ${stderr}`)), reject);
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await exit.catch(() => undefined);
  };
  return { address: `http://127.0.0.1:${port}`, kill };
}

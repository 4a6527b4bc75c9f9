// Edge hosts: a Worker that is bundled with the package, and the Worker's Durable Object.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { build } from 'esbuild';

import { importInstalled, installed } from './installed.mjs';
import { together } from './places.mjs';
import { startServer } from './processes.mjs';

/** What Workers may rely on; hosts refuse dates later than they know. */
const COMPATIBILITY = '2026-01-01';

const WORKER = `import { play } from './program.mjs';

const answer = async (request) =>
  Response.json(await play(new URL(request.url).searchParams.getAll('part')));

export class Room {
  fetch(request) {
    return answer(request);
  }
}

export default {
  fetch(request, env) {
    if (new URL(request.url).pathname !== '/room') return answer(request);
    return env.ROOMS.get(env.ROOMS.idFromName('one')).fetch(request);
  },
};
`;

/** A host of Workers: `start` gives its address. The program plays in the Worker, and in a Durable Object. */
function workerHost(name, start) {
  return {
    name,
    async play({ folder }, parts) {
      await writeFile(join(folder, 'worker.mjs'), WORKER);
      const server = await start(folder);
      try {
        const query = new URLSearchParams(parts.map((part) => ['part', part]));
        const played = {};
        for (const [path, where] of [
          ['/', 'Worker'],
          ['/room', 'Durable Object'],
        ]) {
          const response = await fetch(`${server.address}${path}?${query}`);
          const text = await response.text();
          if (!response.ok) throw new Error(`${where}: ${response.status} ${text}`);
          played[where] = JSON.parse(text);
        }
        return together(played);
      } finally {
        await server.stop();
      }
    },
  };
}

/** Bundles the Worker as wrangler does: its module lies beside it, and the host compiles it. */
function bundleWorker(folder) {
  return build({
    absWorkingDir: folder,
    entryPoints: ['worker.mjs'],
    outdir: 'out',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    loader: { '.wasm': 'copy' },
    assetNames: '[name]',
    logLevel: 'warning',
  });
}

/** Names of the modules that a bundled Worker imports. */
async function modulesIn(folder) {
  return (await readdir(join(folder, 'out'))).filter((name) => name.endsWith('.wasm'));
}

async function startWorkerd(folder) {
  await bundleWorker(folder);
  const wasm = await modulesIn(folder);
  await writeFile(
    join(folder, 'out', 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", http = (), service = "main")],
);

const worker :Workerd.Worker = (
  compatibilityDate = "${COMPATIBILITY}",
  modules = [
    (name = "worker.mjs", esModule = embed "worker.mjs"),
${wasm.map((name) => `    (name = "${name}", wasm = embed "${name}"),`).join('\n')}
  ],
  durableObjectNamespaces = [(className = "Room", uniqueKey = "room")],
  durableObjectStorage = (inMemory = void),
  bindings = [(name = "ROOMS", durableObjectNamespace = "Room")],
);
`,
  );
  return startServer(
    installed('@cloudflare/workerd-linux-64/bin/workerd'),
    ['serve', 'config.capnp', '--socket-addr=http=127.0.0.1:0', '--control-fd=3'],
    /"event":"listen".*?"port":(\d+)/,
    { cwd: join(folder, 'out'), stdio: ['ignore', 'pipe', 'pipe', 'pipe'] },
  );
}

async function startMiniflare(folder) {
  await bundleWorker(folder);
  const out = join(folder, 'out');
  const contents = async (type, name) => ({
    type,
    path: join(out, name),
    contents: await readFile(join(out, name), type === 'ESModule' ? 'utf8' : undefined),
  });
  const { Miniflare } = await importInstalled('miniflare');
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    port: 0,
    cf: false,
    compatibilityDate: COMPATIBILITY,
    modulesRoot: out,
    modules: await Promise.all([
      contents('ESModule', 'worker.mjs'),
      ...(await modulesIn(folder)).map((name) => contents('CompiledWasm', name)),
    ]),
    durableObjects: { ROOMS: 'Room' },
  });
  const address = String(await miniflare.ready).replace(/\/$/, '');
  return { address, stop: () => miniflare.dispose() };
}

/** wrangler bundles the Worker itself. */
async function startWrangler(folder) {
  const config = {
    name: 'agent',
    main: 'worker.mjs',
    compatibility_date: COMPATIBILITY,
    durable_objects: { bindings: [{ name: 'ROOMS', class_name: 'Room' }] },
    migrations: [{ tag: 'v1', new_sqlite_classes: ['Room'] }],
    send_metrics: false,
  };
  await writeFile(join(folder, 'wrangler.json'), JSON.stringify(config));
  return startServer(
    process.execPath,
    [
      installed('wrangler/bin/wrangler.js'),
      ...['dev', '--local', '--ip=127.0.0.1', '--port=0', '--inspector-port=0'],
      '--show-interactive-dev-session=false',
    ],
    /Ready on http:\/\/127\.0\.0\.1:(\d+)/,
    { cwd: folder, env: { ...process.env, CI: '1', NO_COLOR: '1', WRANGLER_HIDE_BANNER: 'true' } },
  );
}

const EDGE = `import { play } from './program.mjs';

addEventListener('fetch', (event) => {
  const parts = new URL(event.request.url).searchParams.getAll('part');
  event.respondWith(play(parts).then((played) => Response.json(played)));
});
`;

/** Vercel's runtime runs one script, and refuses to compile: modules are given to it, as when it is deployed. */
const edgeRuntime = {
  name: "Vercel's edge-runtime",
  async play({ folder }, parts) {
    await writeFile(join(folder, 'edge.mjs'), EDGE);
    const modules = {};
    const given = {
      name: 'modules that are given',
      setup({ onLoad, onResolve }) {
        onResolve({ filter: /\.wasm\?module$/ }, ({ path, resolveDir }) => ({
          path: join(resolveDir, path.replace('?module', '')),
          namespace: 'given',
        }));
        onLoad({ filter: /./, namespace: 'given' }, async ({ path }) => {
          const name = basename(path);
          modules[name] = new WebAssembly.Module(await readFile(path));
          return { contents: `export default GIVEN[${JSON.stringify(name)}];` };
        });
      },
    };
    const { outputFiles } = await build({
      absWorkingDir: folder,
      entryPoints: ['edge.mjs'],
      write: false,
      bundle: true,
      format: 'iife',
      conditions: ['edge-light', 'worker', 'browser'],
      plugins: [given],
      logLevel: 'warning',
      logOverride: { 'empty-import-meta': 'silent' },
    });
    const { EdgeRuntime } = await importInstalled('edge-runtime');
    const runtime = new EdgeRuntime({
      initialCode: outputFiles[0].text,
      extend: (context) => Object.assign(context, { GIVEN: modules }),
      codeGeneration: { strings: false, wasm: false },
    });
    const query = new URLSearchParams(parts.map((part) => ['part', part]));
    const response = await runtime.dispatchFetch(`http://127.0.0.1/?${query}`);
    return together({ '': await response.json() });
  },
};

export const workers = [
  workerHost('workerd', startWorkerd),
  workerHost('miniflare', startMiniflare),
  workerHost('wrangler dev', startWrangler),
  edgeRuntime,
];

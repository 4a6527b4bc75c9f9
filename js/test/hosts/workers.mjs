// Edge hosts: a Worker that is bundled with the package, and the Worker's Durable Object.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { build } from 'esbuild';

import { importInstalled, installed } from './installed.mjs';
import { together } from './places.mjs';
import { startServer } from './processes.mjs';
import { shows } from './shown.mjs';

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

/** The Worker of docs/hosts.md, with a way to its Durable Object. */
const SHOWN = `import shown, { Room } from './cloudflare.js';

export { Room };
export default {
  fetch(request, env) {
    if (new URL(request.url).pathname !== '/room') return shown.fetch(request, env);
    return env.ROOMS.get(env.ROOMS.idFromName('one')).fetch(request);
  },
};
`;

/** A host of Workers: `start` gives its address. The program plays in the Worker, and in a Durable Object. */
function workerHost(name, start) {
  /** @param read what to make of a place's answer and of the milliseconds until it came */
  const visit = async (folder, worker, query, read) => {
    await writeFile(join(folder, 'worker.mjs'), worker);
    const server = await start(folder);
    try {
      const played = {};
      for (const [path, where] of [
        ['/', 'Worker'],
        ['/room', 'Durable Object'],
      ]) {
        const from = performance.now();
        const response = await fetch(`${server.address}${path}?${query}`);
        const text = await response.text();
        if (!response.ok) throw new Error(`${where}: ${response.status} ${text}`);
        played[where] = read(text, performance.now() - from);
      }
      return together(played);
    } finally {
      await server.stop();
    }
  };
  return {
    name,
    delivered: { folder: 'out' },
    play({ folder }, parts) {
      const query = new URLSearchParams(parts.map((part) => ['part', part]));
      // Clocks stand still in Workers.
      return visit(folder, WORKER, query, (text, ms) => ({ ...JSON.parse(text), ms }));
    },
    show: ({ shown }) => visit(shown, SHOWN, '', (text) => shows('cloudflare.js', text)),
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
const EDGE_SHOWN = `import answer, { config } from './edge.js';

addEventListener('fetch', (event) => {
  if (config.runtime !== 'edge') throw new Error(config.runtime);
  event.respondWith(answer(event.request));
});
`;

/**
 * Answers a request in Vercel's runtime, which runs one script and refuses to compile: modules are given to it, as when
 * it is deployed.
 */
async function inEdgeRuntime(folder, script, query = '') {
  await writeFile(join(folder, 'edge.mjs'), script);
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
  return (await runtime.dispatchFetch(`http://127.0.0.1/?${query}`)).text();
}

const edgeRuntime = {
  name: "Vercel's edge-runtime",
  async play({ folder }, parts) {
    const query = new URLSearchParams(parts.map((part) => ['part', part]));
    return together({ '': JSON.parse(await inEdgeRuntime(folder, EDGE, query)) });
  },
  async show({ shown }) {
    return shows('edge.js', await inEdgeRuntime(shown, EDGE_SHOWN));
  },
};

export const workers = [
  workerHost('workerd', startWorkerd),
  workerHost('miniflare', startMiniflare),
  // Its bundle is in no file.
  { ...workerHost('wrangler dev', startWrangler), delivered: undefined },
  edgeRuntime,
];

// Pages that browsers open: files that a plain server hands out, under a strict policy.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

import { browsers } from './browsers.mjs';
import { together } from './places.mjs';
import { html as shownPage, policy, shows } from './shown.mjs';

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
};
/** Milliseconds for a page to play, and between two looks at it. */
const PATIENCE = 180_000;
const PAUSE = 50;

/** Plays when it is loaded, in the page and, where there is a script worker.js, in a worker. */
export const PAGE = `import { play } from './program.mjs';

const parts = new URL(location.href).searchParams.getAll('part');
globalThis.result = JSON.stringify(await play(parts));
`;
const WORKER = `import { play } from './program.mjs';

addEventListener('message', async ({ data }) => postMessage(await play(data)));
`;
const WORKER_PAGE = `const worker = new Worker('worker.js', { type: 'module' });
worker.addEventListener('message', ({ data }) => (globalThis.result = JSON.stringify(data)));
worker.addEventListener('error', ({ message }) => {
  globalThis.result = JSON.stringify({ passed: [], failures: ['the worker failed: ' + message] });
});
worker.postMessage(new URL(location.href).searchParams.getAll('part'));
`;

/** A page that loads a script. */
export function html(script) {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>Turncore</title>
    <link rel="icon" href="data:," />
    <script type="module" src="${script}"></script>
  </head>
  <body></body>
</html>
`;
}

/** A page under a policy that allows no module. */
const FORBIDDEN = `import { createRunner } from './turncore.min.js';

const runner = createRunner({ executor: (ctx) => ctx.ack() });
const { error } = await runner.stream({ message: 'hello' }).result;
document.body.textContent = String(error);
`;

/**
 * The package's files for pages without a bundler, and the programs that import them.
 *
 * @param needed the files of the package
 * @returns its folder
 */
async function layOut(folder, files, needed = /\.(min\.js|wasm)$/) {
  const to = join(folder, 'static');
  const dist = join(folder, 'node_modules/turncore/dist');
  await mkdir(to, { recursive: true });
  for (const name of await readdir(dist, { recursive: true })) {
    if (needed.test(name)) await cp(join(dist, name), join(to, name));
  }
  for (const name of await readdir(folder)) {
    if (!/\.m?js$/.test(name)) continue;
    const text = await readFile(join(folder, name), 'utf8');
    await writeFile(
      join(to, name),
      text.replace(
        /from 'turncore(?:\/(\w+))?'/g,
        (_, entry) => `from './${entry ?? 'turncore'}.min.js'`,
      ),
    );
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(to, name), text);
  return to;
}

/** Opens a page of a folder in a browser and waits for what it has played. */
export function playPage(launch, files, path, parts) {
  return served(files, (address) => playAt(launch, address + path, parts));
}

/** Opens a page in a browser and waits for what it has played. */
export async function playAt(launch, address, parts) {
  const query = new URLSearchParams(parts.map((part) => ['part', part]));
  return JSON.parse(await visit(launch, `${address}?${query}`, 'globalThis.result ?? null'));
}

/** Opens a page of a folder in a browser and waits for its text. */
export function textOf(launch, files, path = '') {
  return served(files, (address) => textAt(launch, address + path));
}

/** Opens a page in a browser and waits for its text. */
export function textAt(launch, address) {
  return visit(launch, address, 'document.body?.textContent.trim() || null');
}

/** Opens a page in a browser and waits for a value that is not null. */
async function visit(launch, address, expression) {
  const browser = await launch();
  try {
    await browser.open(address);
    for (let waited = 0; waited < PATIENCE; waited += PAUSE) {
      const result = await browser.evaluate(expression);
      if (result !== null) return result;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
    throw new Error('the page plays nothing');
  } finally {
    await browser.close();
  }
}

/** Serves a folder to a visitor, who gets the address. */
async function served(files, visitor) {
  const server = await serve(files);
  try {
    return await visitor(`http://127.0.0.1:${server.address().port}/`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

async function serve(files) {
  const server = createServer(async ({ url }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const path = pathname === '/' ? '/index.html' : pathname;
    try {
      const body = await readFile(join(files, path));
      response.writeHead(200, {
        'Content-Security-Policy': path.startsWith('/forbidden')
          ? policy.replace(" 'wasm-unsafe-eval'", '')
          : policy,
        'Content-Type': TYPES[extname(path)] ?? 'text/plain',
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

export const pages = Object.entries(browsers).map(([name, launch]) => ({
  name,
  delivered: { folder: 'static', scripts: /^(page|agent|turncore\.min|engine\.min)\.js$/ },
  async play({ folder }, parts) {
    const files = await layOut(folder, {
      'index.html': html('page.js'),
      'page.js': PAGE,
      'worker.html': html('worker-page.js'),
      'worker-page.js': WORKER_PAGE,
      'worker.js': WORKER,
    });
    const inPage = await playPage(launch, files, '', parts);
    const inWorker = await playPage(launch, files, 'worker.html', parts);
    return together({ '': inPage, worker: inWorker });
  },
  async show({ shown }) {
    const added = {
      'index.html': shownPage,
      'worker.html': shownPage.replace('page.js', 'page-with-worker.js'),
      'forbidden.html': html('forbidden.js'),
      'forbidden.js': FORBIDDEN,
    };
    const files = await layOut(shown, added, /\.min\.js$|^turncore\.wasm$/);
    const told = await textOf(launch, files, 'forbidden.html');
    const forbidden = /E_INVALID_MODULE.*Add 'wasm-unsafe-eval' to script-src/s.test(told);
    return together({
      '': shows('page.js', await textOf(launch, files)),
      worker: shows('page-with-worker.js', await textOf(launch, files, 'worker.html')),
      policy: forbidden ? { passed: ['error'], failures: [] } : { passed: [], failures: [told] },
    });
  },
}));

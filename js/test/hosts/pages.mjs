// Pages that browsers open: files that a plain server hands out, under a strict policy.
import { createServer } from 'node:http';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

import { browsers } from './browsers.mjs';
import { together } from './places.mjs';

const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src data:";
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

/** The package's files for pages without a bundler, and the program that imports them. @returns its folder */
async function layOut(folder) {
  const files = join(folder, 'static');
  const dist = join(folder, 'node_modules/turncore/dist');
  await mkdir(files, { recursive: true });
  for (const name of await readdir(dist)) {
    if (name.endsWith('.min.js') || name.endsWith('.wasm'))
      await cp(join(dist, name), join(files, name));
  }
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.mjs')) continue;
    const text = await readFile(join(folder, name), 'utf8');
    await writeFile(
      join(files, name),
      text.replace(
        /from 'turncore(?:\/(\w+))?'/g,
        (_, entry) => `from './${entry ?? 'turncore'}.min.js'`,
      ),
    );
  }
  const pages = { 'index.html': html('page.js'), 'worker.html': html('worker-page.js') };
  const scripts = { 'page.js': PAGE, 'worker-page.js': WORKER_PAGE, 'worker.js': WORKER };
  for (const [name, text] of Object.entries({ ...pages, ...scripts })) {
    await writeFile(join(files, name), text);
  }
  return files;
}

/** Opens a page of a folder in a browser and waits for what it has played. */
export async function playPage(launch, files, path, parts) {
  const server = await serve(files);
  try {
    return await playAt(launch, `http://127.0.0.1:${server.address().port}/${path}`, parts);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Opens a page in a browser and waits for what it has played. */
export async function playAt(launch, address, parts) {
  const browser = await launch();
  try {
    const query = new URLSearchParams(parts.map((part) => ['part', part]));
    await browser.open(`${address}?${query}`);
    for (let waited = 0; waited < PATIENCE; waited += PAUSE) {
      const result = await browser.evaluate('globalThis.result ?? null');
      if (result !== null) return JSON.parse(result);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
    throw new Error('the page plays nothing');
  } finally {
    await browser.close();
  }
}

async function serve(files) {
  const server = createServer(async ({ url }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const path = pathname === '/' ? '/index.html' : pathname;
    try {
      const body = await readFile(join(files, path));
      response.writeHead(200, {
        'Content-Security-Policy': POLICY,
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
  async play({ folder }, parts) {
    const files = await layOut(folder);
    const inPage = await playPage(launch, files, '', parts);
    const inWorker = await playPage(launch, files, 'worker.html', parts);
    return together({ '': inPage, worker: inWorker });
  },
}));

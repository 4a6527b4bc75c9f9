// The demo's HTTP server: files of the page and of the package, and one endpoint for the model.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join, posix, relative } from 'node:path';

import { scriptedGGUF } from '../model/scripted.mjs';
import { respondJSON } from './json-response.mjs';
import { StaticFiles } from './static-files.mjs';

/** The model that is made here. */
const SCRIPTED_PATH = '/models/scripted.gguf';
/** What the page needs to run a turn without its server, as the service worker takes copies of it. */
const OFFLINE = [
  '/',
  '/config.json',
  SCRIPTED_PATH,
  '/turncore/turncore.wasm',
  '/turncore/turncore-full.wasm',
  '/libraries/wllama/index.js',
  '/libraries/wllama/wasm/wllama.wasm',
];
/** What the page imports of the package, which imports more, some of it late. */
const ENTRIES = [
  'turncore.min.js',
  'agents.min.js',
  'models.min.js',
  'records.min.js',
  'sessions.min.js',
  'stores/indexeddb.min.js',
  'stores/memory.min.js',
];
/** The only path that anything may be posted to. */
const CHAT_PATH = '/v1/chat/completions';

/** Where the libraries download models, if the visitor asks for one. */
const MODEL_HOSTS = [
  'https://huggingface.co',
  'https://*.huggingface.co',
  'https://*.hf.co',
  'https://raw.githubusercontent.com', // WebLLM's shaders
];

/** Where the example agents look things up. */
const AGENT_HOSTS = ['https://en.wikipedia.org'];

/**
 * Nothing but our own files, no inline script or style, and WebAssembly; llama.cpp runs in a worker that its library
 * makes of a text, and the page has a service worker. A page that calls models has no business loading or sending
 * anything elsewhere, but for models and for what agents look up.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self'",
  `connect-src 'self' ${[...MODEL_HOSTS, ...AGENT_HOSTS].join(' ')}`,
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * A server that does not listen yet.
 *
 * @param page folder with the page's files
 * @param dist folder with the built package
 * @param libraries folder with the packages that run models in the page
 * @param modules folder with agents in one file
 * @param agents those that the page offers: the name of each and its grant
 * @param model what answers chat completions
 */
export function createDemoServer({ page, dist, libraries, modules, agents, model }) {
  const files = new StaticFiles({
    '/turncore/': dist,
    '/agents/': modules,
    '/libraries/wllama/': `${libraries}@wllama/wllama/esm/`,
    '/libraries/wllama-compat/': `${libraries}@wllama/wllama-compat/wasm/`,
    '/libraries/web-llm/': `${libraries}@mlc-ai/web-llm/lib/`,
    '/libraries/transformers/': `${libraries}@huggingface/transformers/dist/`,
    '/libraries/onnxruntime/': `${libraries}onnxruntime-web/dist/`,
    '/': page,
  });
  const scripted = scriptedGGUF();
  const settings = {
    model: model.name,
    live: model.live,
    description: model.description,
    agents: agents.map(({ name, grant }) => ({ name, file: `/agents/${name}.wasm`, grant })),
  };
  const config = async () => {
    const own = (await readdir(page, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && entry.name !== 'index.html')
      .map((entry) => `/${relative(page, join(entry.parentPath, entry.name))}`);
    const scripts = (await importedBy(dist, ENTRIES)).map((name) => `/turncore/${name}`);
    const paths = [
      ...OFFLINE,
      ...settings.agents.map(({ file }) => file),
      ...scripts,
      ...own.sort(),
    ];
    const hash = createHash('sha256').update(JSON.stringify(settings)).update(scripted);
    for (const path of paths) hash.update(`${path} ${await files.versionOf(path)}\n`);
    return { ...settings, files: paths, version: hash.digest('hex').slice(0, 16) };
  };
  return createServer((request, response) => {
    response.setHeader('Content-Security-Policy', CONTENT_SECURITY_POLICY);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Referrer-Policy', 'no-referrer');
    response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    answer(request, response, { files, config, model, scripted }).catch((error) => {
      if (!response.headersSent) respondJSON(response, 500, { error: { message: error.message } });
      else response.destroy();
    });
  });
}

/** The names of bundled files of the package and of those that they import, early or late. */
async function importedBy(dist, names, found = new Set()) {
  for (const name of names) {
    if (found.has(name)) continue;
    found.add(name);
    const text = await readFile(`${dist}${name}`, 'utf8');
    const imported = Array.from(text.matchAll(/"(\.\.?\/[\w./-]+\.min\.js)"/g), ([, other]) =>
      posix.join(posix.dirname(name), other),
    );
    await importedBy(dist, imported, found);
  }
  return [...found];
}

async function answer(request, response, { files, config, model, scripted }) {
  if (!isFromHere(request)) {
    respondJSON(response, 403, { error: { message: 'only the demo page may ask' } });
    return;
  }
  const path = new URL(request.url, 'http://127.0.0.1').pathname;
  if (path === CHAT_PATH) {
    if (allows(request, response, ['POST'])) await model.answer(request, response);
    return;
  }
  if (!allows(request, response, ['GET', 'HEAD'])) return;
  if (path === '/config.json') {
    respondJSON(response, 200, await config());
    return;
  }
  if (path === SCRIPTED_PATH) {
    response.writeHead(200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': scripted.length,
      'Cache-Control': 'no-cache',
    });
    response.end(request.method === 'HEAD' ? undefined : scripted);
    return;
  }
  if (!(await files.serve(path, request, response))) {
    respondJSON(response, 404, { error: { message: `there is no ${path}` } });
  }
}

function allows(request, response, methods) {
  if (methods.includes(request.method)) return true;
  response.setHeader('Allow', methods.join(', '));
  respondJSON(response, 405, { error: { message: `${request.method} is not allowed here` } });
  return false;
}

/**
 * Tells requests of our page from those of others. A page elsewhere could post to loopback, or give its own name our
 * address; both would spend the key.
 */
function isFromHere({ headers, socket }) {
  const names = ['127.0.0.1', 'localhost'].map((name) => `${name}:${socket.localPort}`);
  if (!names.includes(headers.host)) return false;
  return headers.origin === undefined || headers.origin === `http://${headers.host}`;
}

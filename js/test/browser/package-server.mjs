// Serves the package and the scripts of the smoke tests on loopback, under a policy as strict as pages may have, unless
// they need more.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

import { dist } from '../smoke/package-folder.mjs';

const TYPES = {
  html: 'text/html',
  js: 'text/javascript',
  mjs: 'text/javascript',
  wasm: 'application/wasm',
};
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; img-src data:";
const FOLDERS = {
  package: dist,
  smoke: new URL('../smoke/', import.meta.url),
  browser: new URL('./', import.meta.url),
  conformance: new URL('../conformance/', import.meta.url),
};

/**
 * Starts it.
 * @param more folders by their names, files by their paths (bytes), and what is added to the policy
 * @returns its address without a final slash, and a function that stops it
 */
export async function startPackageServer({ folders = {}, files = {}, policy = '' } = {}) {
  const server = createServer(async ({ url }, response) => {
    response.setHeader('Content-Security-Policy', POLICY + policy);
    const [, folder, path] = /^\/(\w+)\/([\w./-]+)$/.exec(url) ?? [];
    try {
      if (url === '/') {
        response.writeHead(200, { 'Content-Type': 'text/html' });
        response.end('<!doctype html><link rel="icon" href="data:,"><title>smoke</title>');
        return;
      }
      const body =
        files[url] ?? (await readFile(new URL(path, { ...FOLDERS, ...folders }[folder])));
      response.writeHead(200, { 'Content-Type': TYPES[path.split('.').at(-1)] ?? 'text/plain' });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

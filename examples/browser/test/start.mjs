// Starts the demo's server as its users do.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../server.mjs', import.meta.url));

/**
 * Starts it on a free port.
 *
 * @param args more arguments; `--port` among them replaces the free port
 * @param env environment beside what programs need; no key of the machine's own gets in
 * @returns its address without a final slash, what it printed, and a function that stops it
 */
export async function startDemo({ args = ['--port', '0'], env = {} } = {}) {
  const server = spawn(process.execPath, [script, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exit = once(server, 'exit');
  let printed = '';
  let problems = '';
  server.stderr.on('data', (data) => (problems += data));
  const address = await new Promise((resolve, reject) => {
    server.stdout.on('data', (data) => {
      printed += data;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(printed);
      if (found !== null) resolve(found[0]);
    });
    server.once('error', reject);
    exit.then(([code]) => reject(new Error(`the server ended with ${code}: ${problems}`)), reject);
  });
  return {
    address,
    printed: () => printed,
    /** @returns its exit status, null if a signal had to end it */
    async stop() {
      server.kill('SIGINT');
      return (await exit)[0];
    },
  };
}

// Starts the example as its README says.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
/** Milliseconds for a server to begin. */
const PATIENCE = 60_000;

/**
 * Starts a program of the example, and waits until it answers.
 *
 * @param command with its arguments, made for a port
 * @param settings variables of the environment. Without DATA conversations end with the program
 * @returns its address, what it printed, and a function that ends it with all that it started
 */
export async function start(command, settings = {}) {
  const port = await freePort();
  const data = await mkdtemp(join(tmpdir(), 'turncore-edge-'));
  const [file, ...args] = command(port);
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...process.env, PORT: String(port), PAUSE_MS: '5', DATA: data, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let said = '';
  for (const pipe of [child.stdout, child.stderr]) pipe.on('data', (data) => (said += data));
  const closed = once(child, 'close');
  const ended = () => child.exitCode !== null || child.signalCode !== null;
  const stop = async () => {
    if (!ended()) process.kill(-child.pid, 'SIGKILL');
    await closed;
    await rm(data, { recursive: true, force: true });
  };
  const address = `http://127.0.0.1:${port}`;
  for (const began = Date.now(); ;) {
    const answer = await fetch(address, { headers: { connection: 'close' } }).catch(
      () => undefined,
    );
    await answer?.body?.cancel();
    if (answer !== undefined) return { address, said: () => said, stop };
    if (ended() || Date.now() - began > PATIENCE) {
      await stop();
      throw new Error(`${file} ${args.join(' ')} does not answer: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** `npm start`, on a port. */
export const npmStart = (port) => ['npm', 'start', '--', `--socket-addr=http=127.0.0.1:${port}`];

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

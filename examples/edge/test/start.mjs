// Starts the example as its README says.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
/** Milliseconds for a server to begin. */
const PATIENCE = 60_000;

/**
 * Starts a program of the example on a free port, and waits until it tells its address.
 *
 * @param command with its arguments
 * @param settings variables of the environment. Without DATA conversations end with the program
 * @returns its address, what it printed, and a function that ends it with all that it started
 */
export async function start([file, ...args], settings = {}) {
  const data = await mkdtemp(join(tmpdir(), 'turncore-edge-'));
  const child = spawn(file, args, {
    cwd: folder,
    env: { ...process.env, PORT: '0', PAUSE_MS: '5', DATA: data, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const closed = once(child, 'close');
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
    await closed;
    await rm(data, { recursive: true, force: true });
  };
  let said = '';
  let patience;
  try {
    const address = await new Promise((resolve, reject) => {
      const fail = () => reject(new Error(`${file} ${args.join(' ')} tells no address: ${said}`));
      for (const pipe of [child.stdout, child.stderr]) {
        pipe.on('data', (data) => {
          said += data;
          const found = /(http:\/\/127\.0\.0\.1:\d+)\/?\s/.exec(said);
          if (found !== null) resolve(found[1]);
        });
      }
      patience = setTimeout(fail, PATIENCE);
      closed.then(fail, reject);
    });
    return { address, said: () => said, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(patience);
  }
}

/** `npm start` on a free port. */
export const npmStart = ['npm', 'start', '--', '--socket-addr=http=127.0.0.1:0'];

// Programs that are hosts: they run to their end, or serve until they are stopped.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Milliseconds for a host to play, and for a server to begin. */
const PATIENCE = 180_000;

/**
 * Runs a program to its end.
 *
 * @param options of `spawn`
 * @returns what it printed
 */
export async function runToEnd(command, args, options = {}) {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE,
    killSignal: 'SIGKILL',
    ...options,
  });
  const said = collect(child);
  const [code, signal] = await once(child, 'close');
  if (code === 0) return said.stdout;
  throw new Error(`${command} ended with ${code ?? signal}: ${said.stdout}${said.stderr}`);
}

/**
 * Starts a server.
 *
 * @param pattern finds the port in what it says, in its first group
 * @param options of `spawn`
 * @returns its address, and a function that stops it with all that it started
 */
export async function startServer(command, args, pattern, options = {}) {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    ...options,
  });
  const closed = once(child, 'close');
  const said = collect(child);
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
    await closed;
  };
  let late;
  try {
    const port = await Promise.race([
      new Promise((resolve) => {
        const look = () => {
          const found = pattern.exec(said.stdout + said.stderr + said.control);
          if (found !== null) resolve(found[1]);
        };
        for (const pipe of child.stdio.slice(1)) pipe?.on('data', look);
      }),
      closed.then(() => Promise.reject(new Error('it ended'))),
      new Promise((_, reject) => {
        late = setTimeout(() => reject(new Error('it says no port')), PATIENCE);
      }),
    ]);
    return { address: `http://127.0.0.1:${port}`, stop };
  } catch (error) {
    await stop();
    throw new Error(`${command}: ${error.message}: ${said.stdout}${said.stderr}`, { cause: error });
  } finally {
    clearTimeout(late);
  }
}

/** Keeps what a program says on its standard streams, and on the one behind them. */
function collect(child) {
  const said = { stdout: '', stderr: '', control: '' };
  for (const [i, name] of ['stdout', 'stderr', 'control'].entries()) {
    // Characters may lie in two chunks.
    child.stdio[i + 1]?.setEncoding('utf8').on('data', (data) => (said[name] += data));
  }
  return said;
}

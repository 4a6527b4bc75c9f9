/**
 * Plays a module that wants to harm its host, in Node and in pages.
 */

/** Modules that end when their turn is aborted. */
const ABORTED = ['deaf', 'many-gates'];

/**
 * How two turns on a module end, the second if the first ends well.
 *
 * @param start makes a worker that serves a runner on the module: the runner here, and a promise of the worker's end if
 *   there is one
 * @returns the result of the last turn
 */
export async function ending(start, name, delay = 250) {
  const { runner, exit } = start();
  let last;
  try {
    for (let n = 0; n < 2; n++) {
      const controller = new AbortController();
      const timer = ABORTED.includes(name) && setTimeout(() => controller.abort(), delay);
      last = await runner.stream({ message: 'x', signal: controller.signal }).result;
      clearTimeout(timer);
      if (last.status !== 'ack') break;
    }
  } finally {
    runner.terminate();
    await exit;
  }
  // It was aborted before it ran.
  return last.status === 'aborted' ? ending(start, name, delay * 2) : last;
}

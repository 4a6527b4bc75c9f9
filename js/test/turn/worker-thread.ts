/**
 * A worker of Node for the tests: what it does its data says.
 */
import { workerData } from 'node:worker_threads';

import { createRunner, type DispatchExecutorFn } from '../../src/index.js';
import { serveRunner } from '../../src/entries/worker.js';

/** What a worker of the tests does. */
export type Behaviour =
  'serves' | 'serves late' | 'throws' | 'ends' | 'hangs' | 'exits' | 'crashes';

const { behaviour, module } = workerData as { behaviour: Behaviour; module: Uint8Array };

/** Every phase of the event loop, many times over, so that what was said has been posted, however busy the machine. */
async function untilPosted(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Says a word at a time; in the middle it does what its data names. */
const executor: DispatchExecutorFn = async (ctx, helpers) => {
  helpers.reportMessage('m', 'one ');
  if (behaviour !== 'serves') await untilPosted();
  if (behaviour === 'exits') process.exit(3);
  if (behaviour === 'crashes') {
    setTimeout(() => {
      throw new RangeError('nobody catches this');
    });
    await new Promise(() => undefined);
  }
  if (behaviour === 'hangs') for (;;);
  helpers.reportMessage('m', 'two', { isComplete: true });
  ctx.ack();
};

if (behaviour === 'throws') throw new TypeError('no such agent');
if (behaviour === 'serves late') await new Promise((resolve) => setTimeout(resolve, 50));
if (behaviour !== 'ends') serveRunner(createRunner({ executor, host: { module } }));

/**
 * A worker with a runner of its own.
 */
import { createRunner } from 'turncore';
import { serveRunner } from 'turncore/worker';

serveRunner(createRunner({ executor: (ctx) => ctx.ack() }));

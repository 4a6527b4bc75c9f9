/**
 * A worker that runs turns on a module that is not trusted.
 */
import { parentPort, workerData } from 'node:worker_threads';

import { createRunner } from 'turncore';
import { meteredModule } from 'turncore/metering';
import { serveRunner } from 'turncore/worker';

const { file, units } = workerData;
const module = meteredModule(file, { start: units, step: units });
serveRunner(
  createRunner({ executor: (ctx) => ctx.ack(), host: { module, maxMemory: 64 << 20 } }),
  parentPort,
);

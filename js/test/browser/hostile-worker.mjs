// A worker of a page that runs turns on a module that is not trusted, which its address names.
import { meteredModule } from '../package/metering.min.js';
import { createRunner } from '../package/turncore.min.js';
import { serveRunner } from '../package/worker.min.js';

const asked = new URLSearchParams(location.hash.slice(1));
const units = Number(asked.get('units'));
const module = meteredModule(new URL(`../modules/${asked.get('name')}.wasm`, location.href), {
  start: units,
  step: units,
});
serveRunner(createRunner({ executor: (ctx) => ctx.ack(), host: { module, maxMemory: 64 << 20 } }));

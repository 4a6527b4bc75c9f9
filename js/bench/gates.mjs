/**
 * Many turns that wait at gates at the same time, in turn middleware and in a tool's handler: what each of them keeps
 * in memory, and how long it takes to let it go.
 */
import { Tool, TurnRunner } from 'turncore';
import { input, noStorage } from './conversation.mjs';
import { collect, now, once, quantileOf } from './meter.mjs';

/** What turns wait with. */
export const question = {
  id: 'g',
  reason: 'Delete the file?',
  payload: { path: '/a' },
  createdAt: 1767225600000,
  schema: { type: 'boolean' },
};

const tool = new Tool({
  name: 'remove',
  description: 'Removes a file.',
  inputSchema: { type: 'object' },
  handler: (_args, ctx) => ctx.waitFor(question),
});

export async function measureGates(pace) {
  const few = [];
  const took = [];
  const inTurn = await waitTogether(pace, few, took, {
    turnInputPipeline: [
      async (ctx, next) => {
        await ctx.waitFor(question);
        await next();
      },
    ],
  });
  const inTool = await waitTogether(pace, few, took, {
    tools: [tool],
    executorCallback: async (ctx) => {
      await tool.executor(ctx)({});
      ctx.ack();
    },
  });
  took.sort((a, b) => a - b);
  few.sort((a, b) => a - b);
  return [
    once('gates-turn-memory', 'KiB', inTurn.guest),
    once('gates-tool-memory', 'KiB', inTool.guest),
    once('gates-host-memory', 'KiB', inTool.heap),
    once('gates-settle-ratio', '×', quantileOf(took, 0.5) / quantileOf(few, 0.5)),
    once('gates-settle-p99', 'ms', quantileOf(took, 0.99)),
    once('gates-settle-max', 'ms', took.at(-1)),
  ];
}

/**
 * The KiB that a waiting turn takes in the module and in the program; what resolving took among few turns and
 * among all goes into `few` and `took`, in ms.
 */
async function waitTogether(pace, few, took, config) {
  const runner = new TurnRunner({
    ...noStorage,
    executorCallback: (ctx) => ctx.ack(),
    ...config,
  });
  const start = async (count) => {
    const running = Array.from({ length: count }, () => runner.run(input));
    while (runner.gates().length < count) await new Promise((resolve) => setImmediate(resolve));
    return running;
  };
  const finish = async (running, samples) => {
    for (const gate of runner.gates()) {
      const begun = now();
      gate.resolve(true);
      samples.push((now() - begun) / 1e6);
      await null;
    }
    await Promise.all(running);
  };
  await finish(await start(pace.gates / 20), []); // warms up
  await finish(await start(pace.gates / 20), few);
  const { instance } = await runner.host.acquire();
  collect();
  const memory = instance.memoryBytes;
  const heap = process.memoryUsage().heapUsed;
  const running = await start(pace.gates);
  collect();
  const each = (bytes) => bytes / 1024 / pace.gates;
  const result = {
    guest: each(instance.memoryBytes - memory),
    heap: each(process.memoryUsage().heapUsed - heap),
  };
  await finish(running, took);
  return result;
}

/**
 * What a seam costs beyond the user's own function: a middleware, a dispatch inside a dispatch, a gate that a
 * listener settles at once.
 */
import { DispatchRunner } from 'turncore';
import { Conversation } from './conversation.mjs';
import { question } from './gates.mjs';
import { measure, paired, timedAsync } from './meter.mjs';

/** How many there are in a turn, so that the difference is well above what the clock's noise is. */
const SEAMS = 10;

export async function measureSeams(pace) {
  const plain = { executorCallback: (ctx) => ctx.ack() };
  const variants = {
    none: plain,
    middleware: { ...plain, dispatchInputPipeline: Array(SEAMS).fill((_ctx, next) => next()) },
    nested: {
      executorCallback: async (ctx) => {
        for (let i = 0; i < SEAMS; i++) {
          await DispatchRunner.dispatch({ source: ctx, executor: (inner) => inner.ack() });
        }
        ctx.ack();
      },
    },
    gate: {
      executorCallback: async (ctx) => {
        for (let i = 0; i < SEAMS; i++) await ctx.waitFor(question);
        ctx.ack();
      },
    },
  };
  const subjects = Object.entries(variants).map(([name, config]) => {
    const conversation = new Conversation(0, config);
    conversation.runner.observe('turnGateOpen', (gate) => gate.resolve(true));
    return timedAsync(name, () => conversation.other());
  });
  await measure(pace, ...subjects);
  const each = (many, none) => Math.max(many - none, 0) / SEAMS / 1e3;
  const [none, ...others] = subjects;
  return others.map((subject) => paired(subject.figure, 'µs', subject, none, each));
}

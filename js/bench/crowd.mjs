/**
 * Deltas of many turns that stream at the same time, one from each in turns, against those of a turn alone.
 */
import { noStorage, input } from './conversation.mjs';
import { now, quantileOf, summarize } from './meter.mjs';
import { TurnRunner } from 'turncore';

/** Deltas of each turn. */
const DELTAS = 50;

export async function measureCrowd(pace) {
  const alone = [];
  const together = [];
  await stream(1, DELTAS * pace.crowd, []); // warms up
  for (let round = 0; round < 3; round++) {
    await stream(1, DELTAS * pace.crowd, alone);
    await stream(pace.crowd, DELTAS, together);
  }
  const one = summarize('crowd-one', 'µs', alone);
  const many = summarize('crowd-delta', 'µs', together);
  const worst = quantileOf(together, 0.999) / 1e3;
  return [
    summarize('crowd-ratio', '×', [many.median / one.median]),
    summarize('crowd-worst', 'ms', [worst]),
  ];
}

/** Runs turns that all stream, and writes down what each delta took, in microseconds. */
async function stream(turns, deltas, samples) {
  const helpers = [];
  const release = [];
  let everybody;
  const begun = new Promise((resolve) => (everybody = resolve));
  const runner = new TurnRunner({
    ...noStorage,
    executorCallback: async (ctx, own) => {
      helpers.push(own);
      const done = new Promise((resolve) => release.push(resolve));
      if (helpers.length === turns) everybody();
      await done;
      ctx.ack();
    },
  });
  let heard = 0;
  runner.on('message', () => heard++);
  const running = Array.from({ length: turns }, () => runner.run(input));
  await begun;
  for (let i = 0; i < deltas; i++) {
    for (const own of helpers) {
      const start = now();
      own.reportMessage('m1', 'a word ');
      samples.push((now() - start) / 1e3);
    }
    await null;
  }
  for (const go of release) go();
  await Promise.all(running);
  if (heard !== turns * deltas) throw new Error(`${heard} deltas were heard`);
}

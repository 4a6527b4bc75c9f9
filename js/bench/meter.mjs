/**
 * Takes samples and makes figures of them, as host/internal/bench does for Go.
 */
import { readSync, writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

/** Collects all garbage now. V8 then throws much of its optimized code away: not for before a measurement. */
export function collect() {
  gc();
}

/** Collects what is young. */
function sweep() {
  gc({ type: 'minor' });
}

/**
 * How long the benchmark takes. See the Go half for what the fields mean; times are in milliseconds. `runs` is how
 * often an operation is done before it is measured: V8 optimizes what has run often, whatever time that took.
 */
export const full = {
  rounds: 15,
  slice: 60,
  warm: 500,
  runs: 4000,
  starts: 15,
  crowd: 1000,
  gates: 10_000,
  stream: 10_000_000,
  turns: [10_000, 100_000],
};
const hurried = {
  rounds: 3,
  slice: 5,
  warm: 20,
  runs: 20,
  starts: 3,
  crowd: 20,
  gates: 300,
  stream: 300_000,
  turns: [300, 600],
};
/**
 * Long enough to be compared with another build when it is repeated; gates are so many that less than one in a hundred
 * of them waits for V8 to compile something.
 */
const repeated = {
  rounds: 5,
  slice: 10,
  warm: 60,
  runs: 2000,
  starts: 3,
  crowd: 50,
  gates: 6000,
  stream: 1_000_000,
  turns: [500, 1000],
};
/** A few seconds, to see that everything runs; see the Go half for the other. */
export const quick = process.env.TURNCORE_BENCH_PACE === 'pair' ? repeated : hurried;

/** Nanoseconds of a monotonic clock. */
export const now = () => performance.now() * 1e6;

/**
 * Something that is measured. `sample` runs it once, or often enough to be timed, and returns the nanoseconds that one
 * operation took.
 *
 * @typedef {{ figure: string, sample: () => number | Promise<number>, all: number[], rounds: number[] }} Subject
 */

/** @returns {Subject} */
export function subject(figure, sample) {
  return { figure, sample, all: [], rounds: [] };
}

/** Nanoseconds that a sample takes at least, so that reading the clock costs nothing. */
const SAMPLE = 20_000;

/** A subject of a synchronous operation. @returns {Subject} */
export function timed(figure, operation) {
  let batch = 0;
  const run = (n) => {
    const start = now();
    for (let i = 0; i < n; i++) operation();
    return now() - start;
  };
  return subject(figure, () => {
    if (batch === 0) {
      let fastest = Infinity;
      for (let i = 0; i < 20; i++) fastest = Math.min(fastest, run(20) / 20);
      batch = Math.ceil(SAMPLE / Math.max(fastest, 1)) + 1;
    }
    return run(batch) / batch;
  });
}

/** A subject of an operation that returns a promise. @returns {Subject} */
export function timedAsync(figure, operation) {
  let batch = 0;
  const run = async (n) => {
    const start = now();
    for (let i = 0; i < n; i++) await operation();
    return now() - start;
  };
  return subject(figure, async () => {
    if (batch === 0) {
      let fastest = Infinity;
      for (let i = 0; i < 20; i++) fastest = Math.min(fastest, await run(1));
      batch = Math.ceil(SAMPLE / Math.max(fastest, 1)) + 1;
    }
    return (await run(batch)) / batch;
  });
}

/**
 * Runs subjects in turns, so that what else the machine does meets all of them, and a ratio of two compares what
 * happened at the same time. Each slice begins after young garbage was collected; collections that the subject causes
 * are part of it. Beside other builds it waits before each slice until it is its turn.
 */
export async function measure(pace, ...subjects) {
  for (const s of subjects) await run(s, pace.warm, pace.runs, WARMEST);
  for (let i = 0; i < pace.rounds; i++) {
    for (const s of subjects) {
      awaitTurn(s.figure);
      sweep();
      const round = await run(s, pace.slice, 5);
      for (const ns of round) s.all.push(ns);
      s.rounds.push(quantile(round.sort(ascending), 0.5));
    }
  }
}

/** Whether the pair command runs this program beside other builds, one at a time. */
const beside = process.env.TURNCORE_BENCH_BESIDE !== undefined;

/** Tells the pair command which figure comes next and waits until it answers: nothing else runs here meanwhile. */
function awaitTurn(figure) {
  if (!beside) return;
  writeSync(1, `${figure}\n`);
  if (readSync(0, Buffer.alloc(1)) === 0) throw new Error(`nobody says when to measure ${figure}`);
}

/** Milliseconds after which an operation is warm however few its runs were: what takes that long is hot in its loops. */
const WARMEST = 400;

/** Takes samples for a while, and so many at least, unless that takes longer than `longest`. */
async function run(subject, during, least, longest = Infinity) {
  const samples = [];
  const start = performance.now();
  for (;;) {
    const passed = performance.now() - start;
    if (samples.length > 0 && passed >= longest) break;
    if (samples.length >= least && passed >= during) break;
    const result = subject.sample();
    samples.push(typeof result === 'number' ? result : await result);
  }
  return samples;
}

const ascending = (a, b) => a - b;

/** Reads sorted samples, between two of them where it must. */
function quantile(sorted, q) {
  const at = q * (sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

/** A quantile of samples in any order. */
export function quantileOf(samples, q) {
  return quantile(samples.slice().sort(ascending), q);
}

/** A row of the report. */
export function summarize(figure, unit, samples) {
  const sorted = samples.slice().sort(ascending);
  return {
    figure,
    engine: 'Node',
    unit,
    median: quantile(sorted, 0.5),
    p10: quantile(sorted, 0.1),
    p90: quantile(sorted, 0.9),
    samples: sorted.length,
  };
}

/** A row of something that is looked at once. */
export function once(figure, unit, value) {
  return summarize(figure, unit, [value]);
}

/** A subject's row, in microseconds. */
export function micros(subject) {
  return summarize(
    subject.figure,
    'µs',
    subject.all.map((ns) => ns / 1e3),
  );
}

/** A subject's row, in milliseconds. */
export function millis(subject) {
  return summarize(
    subject.figure,
    'ms',
    subject.all.map((ns) => ns / 1e6),
  );
}

/** A figure made of what two subjects took in the same round. */
export function paired(figure, unit, a, b, of) {
  return summarize(
    figure,
    unit,
    a.rounds.map((ns, i) => of(ns, b.rounds[i])),
  );
}

/**
 * Compares a log with what a scenario expects.
 */
import { canonicalJSON } from '../codec/canonical-json.js';
import { type Line, type Log, summary } from './line.js';
import { marksOf } from './marks.js';
import type { Scenario } from './scenario.js';

type Names = Map<string, unknown>;

/** @throws Error unless the log is what the scenario expects */
export function check(scenario: Scenario, log: Log): void {
  let names: Names = new Map();
  let next = 0;
  let skip = false;
  scenario.expect.forEach((want, i) => {
    if (want === '...') {
      skip = true;
      return;
    }
    const from = next;
    for (; ; next++) {
      const line = log[next];
      if (line === undefined) {
        fail(scenario, log, from, `expected line ${i} is not there: ${canonicalJSON(want)}`);
      }
      const trial: Names = new Map(names);
      const why = matchLine(want, line, trial);
      if (why === '') {
        names = trial;
        break;
      }
      if (!skip) {
        fail(scenario, log, next, `line ${next}: ${why}, expected ${canonicalJSON(want)}`);
      }
    }
    next++;
    skip = false;
  });
  if (next < log.length && !skip) {
    fail(scenario, log, next, `line ${next} was not expected`);
  }
  checkMarks(scenario, log);
}

/** Compares the log with the marks of the scenario, if it has any. */
function checkMarks(scenario: Scenario, log: Log): void {
  if (scenario.marks === undefined) return;
  const want = scenario.marks.split(' ');
  marksOf(log).forEach((mark, i) => {
    if (mark !== want[i]) fail(scenario, log, i, `line ${i} is another one than its mark says`);
  });
  if (log.length < want.length) {
    fail(scenario, log, log.length, `there are ${log.length} lines, and ${want.length} marks`);
  }
}

function fail(scenario: Scenario, log: Log, at: number, why: string): never {
  const text = log.map(
    (line, i) => `${i === at ? '>' : ' '} ${i} ${summary(line)}   ${canonicalJSON(line)}`,
  );
  throw new Error(`${scenario.id}: ${why}\n${text.join('\n')}`);
}

function matchLine(want: unknown, line: Line, names: Names): string {
  if (typeof want !== 'string') return match(want, line, names, '');
  const got = summary(line);
  return got === want ? '' : `it is ${JSON.stringify(got)}`;
}

/** Compares a value with what is expected there. @returns where they differ, or nothing */
function match(want: unknown, got: unknown, names: Names, path: string): string {
  if (Array.isArray(want)) return matchList(want as unknown[], got, names, path);
  if (typeof want === 'object' && want !== null) {
    return matchObject(want as Line, got, names, path);
  }
  if (want === '*') return '';
  if (typeof want === 'string' && want.startsWith('$')) {
    if (names.has(want)) return match(names.get(want), got, names, path);
    names.set(want, got);
    return '';
  }
  return canonicalJSON(want) === canonicalJSON(got) ? '' : `${path} is ${canonicalJSON(got)}`;
}

function matchList(want: readonly unknown[], got: unknown, names: Names, path: string): string {
  if (!Array.isArray(got) || got.length !== want.length) return `${path} is ${canonicalJSON(got)}`;
  for (const [i, item] of want.entries()) {
    const why = match(item, got[i], names, `${path}[${i}]`);
    if (why !== '') return why;
  }
  return '';
}

function matchObject(want: Line, got: unknown, names: Names, path: string): string {
  const keys = Object.keys(want).sort();
  const first = keys[0] ?? '';
  if (first === 'json' && keys.length === 1) return matchJSON(want[first], got, names, path);
  const matcher = keys.length === 1 && Object.hasOwn(matchers, first) ? matchers[first] : undefined;
  if (matcher !== undefined) {
    return matcher(want[first], got) ? '' : `${path} is ${canonicalJSON(got)}`;
  }
  if (typeof got !== 'object' || got === null || Array.isArray(got)) return `${path} is no object`;
  for (const name of keys) {
    const at = path === '' ? name : `${path}.${name}`;
    const there = Object.hasOwn(got, name);
    if ((want[name] as Line | null)?.['absent'] === true) {
      if (there) return `${at} is there`;
      continue;
    }
    if (!there) return `${at} is absent`;
    const why = match(want[name], (got as Line)[name], names, at);
    if (why !== '') return why;
  }
  return '';
}

/** Compares what a text holds as JSON. */
function matchJSON(want: unknown, got: unknown, names: Names, path: string): string {
  let value: unknown;
  try {
    value = JSON.parse(String(got));
  } catch {
    return `${path} is no JSON: ${String(got)}`;
  }
  return match(want, value, names, path);
}

const text =
  (compare: (s: string, part: string) => boolean) =>
  (arg: unknown, got: unknown): boolean =>
    typeof arg === 'string' && typeof got === 'string' && compare(got, arg);

/** Objects of one member that stand for a set of values. */
const matchers: Readonly<Record<string, (arg: unknown, got: unknown) => boolean>> = {
  contains: text((s, part) => s.includes(part)),
  starts: text((s, part) => s.startsWith(part)),
  ends: text((s, part) => s.endsWith(part)),
  min: (arg, got) => typeof got === 'number' && got >= Number(arg),
  length: (arg, got) => typeof got === 'string' && got.length === arg,
};

/**
 * Lines of a log, as canonical JSON and in a few words.
 */
import { canonicalJSON } from '../codec/canonical-json.js';

/** One line of a log, as plain data. */
export type Line = Readonly<Record<string, unknown>>;
/** What a scenario's play wrote. */
export type Log = readonly Line[];

/** A log as lines of canonical JSON. */
export function logText(log: Log): string {
  return log.map((line) => `${canonicalJSON(line)}\n`).join('');
}

/** A line in a few words: what a string among the expected lines is compared with. */
export function summary(line: Line): string {
  if (line['event'] !== undefined) return eventSummary(line);
  if (line['storage'] !== undefined) return words('storage', line['storage'], line['args']);
  if (line['tokenizer'] !== undefined) {
    return words('tokenizer', line['tokenizer'], canonicalJSON(line['texts']));
  }
  if (line['model'] !== undefined) return words('model', line['model']);
  if (line['request'] !== undefined) return words('request', line['request']);
  const by = String(line['by']);
  if (line['said'] !== undefined) return `${by}: ${line['said'] as string}`;
  if (line['saw'] !== undefined) return `${by} saw ${canonicalJSON(line['saw'])}`;
  const did = `${by} did ${String(line['did'])}`;
  if (line['threw'] !== undefined) return `${did}: threw ${errorWord(line['threw'])}`;
  if ('got' in line) return `${did}: ${canonicalJSON(line['got'])}`;
  return did;
}

function eventSummary(l: Line): string {
  const name = l['event'] as string;
  switch (name) {
    case 'turnEnd':
      return words(name, l['status'], errorWord(l['error']));
    case 'dispatchEnd':
      return words(name, l['status'], l['iterations'], errorWord(l['error']));
    case 'iterationStart':
      return words(name, l['iteration']);
    case 'iterationEnd':
      return words(name, l['iteration'], l['status'], discarded(l['discarded']));
    case 'message':
    case 'thought':
      return words(
        name,
        l['id'],
        canonicalJSON(l['aDelta']),
        flag(l, 'isComplete', 'complete'),
        flag(l, 'isInterrupted', 'interrupted'),
      );
    case 'toolCall':
      return words(
        name,
        l['id'],
        l['tool'],
        flag(l, 'isComplete', 'complete'),
        flag(l, 'isError', 'failed'),
      );
    case 'toolExecutionStart':
      return words(name, l['toolName']);
    case 'toolExecutionEnd':
      return words(name, l['toolName'], flag(l, 'isError', 'failed'));
    case 'modelCallStart':
      return words(name, l['model'], l['attempt']);
    case 'modelCallEnd':
      return words(name, l['model'], l['attempt'], l['status']);
    case 'turnGateOpen':
      return words(name, l['gateId']);
    case 'turnGateClosed':
      return words(name, l['gateId'], l['result']);
    case 'log':
      return words(name, l['level'], l['kind'], l['message']);
    case 'warning':
      return words(name, l['kind']);
    case 'error':
      return words(name, errorWord(l['error']));
    default:
      return name;
  }
}

function flag(line: Line, name: string, word: string): string {
  return line[name] === true ? word : '';
}

/** Dropped writes: `-store message m1`. */
function discarded(value: unknown): string {
  const all = Array.isArray(value) ? (value as Line[]) : [];
  return all.map((d) => words(`-${String(d['op'])}`, d['kind'], d['id'])).join(' ');
}

/** An error's name in the scenario, or its code. */
function errorWord(value: unknown): string {
  const error = (value ?? {}) as Line;
  return (error['is'] ?? error['code'] ?? '') as string;
}

/** Joins what is not empty. */
function words(...parts: unknown[]): string {
  return parts
    .map((part) => {
      if (part === undefined || part === null) return '';
      if (typeof part === 'string') return part;
      return Array.isArray(part) ? words(...(part as unknown[])) : canonicalJSON(part);
    })
    .filter((word) => word !== '')
    .join(' ');
}

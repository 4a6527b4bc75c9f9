/**
 * The timeline of a turn, from the frames of its journal. The Go command prints the same bytes.
 */
import { joined } from '../bytes.js';
import type { JournalHeader } from '../journal/format.js';
import { isObject } from '../validation/field-kinds.js';
import type { Style } from './screen.js';

/** A text with its style; without one it is plain. */
export type Styled = readonly [style: Style | undefined, text: string];

/** A line of the timeline. */
interface Moment {
  readonly at: number;
  readonly depth: number;
  readonly label: string;
  text: string;
  /** Its outcome. */
  tail: string;
  body: string[];
  style: Style | undefined;
  hidden: boolean;
  /** Whether it has an end: effects and tool calls do. */
  readonly ends: boolean;
  ended: boolean;
  /** Of a tool call: its checksum and execution. */
  readonly key: string;
  /** Of a response: its status, and the time of its head. */
  status: number;
  head: number;
  size: number;
  chunks: Uint8Array[];
  /** The text of a stream so far. */
  said: string;
}

type Fields = Readonly<Record<string, unknown>>;

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'];
/** Frames with a time. */
const TIMED = new Set(['Call', 'Result', 'Chunk', 'Abort', 'Tick', 'Event']);
/** Members of a part that are about functions, and their signs. */
const FUNCTIONS = [
  ['functionCall', '→'],
  ['functionResponse', '←'],
] as const;
/** Shown characters of a text. */
const LONGEST = 200;
/** The column of texts without indentation. */
const TEXT_COLUMN = 22;
/** The end of the year 9999, in ms. */
const MAX_TIME = 253402300799999;

/** Takes the frames of a journal and lists what happened. */
export class Timeline {
  readonly #header: JournalHeader;
  readonly #verbose: boolean;
  readonly #runners = new Map<number, Fields>();
  /** Names of tools and of agents by number. */
  readonly #named = new Map<number, string>();
  readonly #agents = new Map<number, string>();
  #start: Fields | undefined;
  #end: Fields | undefined;
  /** Ms since the start. */
  #now = 0;
  readonly #moments: Moment[] = [];
  /** Of contexts. */
  readonly #depths = new Map<number, number>();
  readonly #iterating = new Set<number>();
  readonly #effects = new Map<number, Moment>();
  readonly #calls = new Map<number, Moment>();
  readonly #streams = new Map<string, Moment>();
  readonly #dispatches = new Map<number, Moment>();
  /** By context: the one that runs. */
  readonly #iterations = new Map<number, Moment>();
  readonly #gates = new Map<number, Moment>();
  /** Tool calls that have no result yet. */
  readonly #tools: Moment[] = [];
  #requests = 0;
  #called = 0;
  #tokensIn = 0;
  #tokensOut = 0;

  constructor(header: JournalHeader, verbose: boolean) {
    this.#header = header;
    this.#verbose = verbose;
  }

  /** Takes the next frame, as `turncore inspect --json` has it. */
  frame(f: Fields): void {
    const name = str(f['frame']);
    if (TIMED.has(name)) this.#now = Math.max(this.#now, num(f['elapsed']));
    const context = num(f['context']);
    const effect = this.#effects.get(num(f['effect']));
    switch (name) {
      case 'OpenRunner':
        this.#runners.set(num(f['runner']), f);
        for (const tool of list(f['tools'])) {
          const { number, name: named } = fields(tool);
          this.#named.set(num(number), str(named));
        }
        break;
      case 'OpenAgents':
        for (const agent of list(f['agents'])) {
          const { number, name: named } = fields(agent);
          this.#agents.set(num(number), str(named));
        }
        break;
      case 'StartTurn':
        this.#begin(f);
        break;
      case 'StartInvocation':
        this.#start = f;
        break;
      case 'Edit':
        if (f['edit'] === 'addHistory') this.#history(num(f['count']), str(f['collection']));
        break;
      case 'Call': {
        const call = this.#add('call', this.#depth(context), str(f['method']), 'dim');
        call.hidden = !this.#verbose;
        if (this.#verbose && isGiven(f['args'])) call.body = [JSON.stringify(f['args'])];
        this.#calls.set(num(f['call']), call);
        break;
      }
      case 'Reply': {
        const call = this.#calls.get(num(f['call']));
        if (call === undefined) break;
        this.#settle(call, f);
        if (failureOf(f['error']) !== undefined) call.hidden = false;
        break;
      }
      case 'Sync':
        if (f['sync'] === 'open') this.#depths.set(context, this.#depth(num(f['other'])) + 1);
        break;
      case 'Effect':
        if (this.#invocation()) this.#invoked(f);
        else this.#effect(f);
        break;
      case 'Chunk':
        if (effect !== undefined) this.#chunk(effect, f);
        break;
      case 'Result':
        if (effect !== undefined) this.#settle(effect, f);
        break;
      case 'Cancel':
        if (effect !== undefined && !effect.ended) effect.tail += ', cancelled';
        break;
      case 'Abort': {
        const whole = this.#invocation() ? 'the invocation' : 'the turn';
        const what = context > 0 ? `dispatch ${context}` : whole;
        const reason = failureOf(f['reason']);
        const text = reason === undefined ? what : `${what}: ${reason}`;
        this.#add('abort', this.#depth(context), text, 'red');
        break;
      }
      case 'Event':
        this.#event(f);
        break;
      case 'End':
        this.#end = f;
        break;
      case 'Fault':
        this.#add('fault', 0, `${str(f['code'])}: ${str(f['message'])}`, 'red');
        break;
      case '':
        this.#add('malformed', 0, this.#cut(JSON.stringify(f)), 'red');
        break;
      default:
    }
  }

  /** The lines of the timeline, each as parts. */
  lines(): Styled[][] {
    const lines = this.#headLines();
    for (const moment of this.#moments) if (!moment.hidden) lines.push(...momentLines(moment));
    lines.push(...momentLines(this.#endMoment()));
    const total =
      `${count(this.#requests, 'request')}, ${count(this.#called, 'tool call')}, ` +
      `${this.#tokensIn} tokens in, ${this.#tokensOut} out`;
    lines.push([['dim', ' '.repeat(TEXT_COLUMN) + total]]);
    return lines;
  }

  #endMoment(): Moment {
    const end = newMoment('ended', this.#now, 0, '', 'red');
    if (this.#start === undefined) end.text = 'no turn begins in this journal';
    else if (this.#end === undefined) {
      const what = this.#invocation() ? 'invocation' : 'turn';
      end.text = `not: the journal stops while the ${what} runs`;
    } else {
      const status = str(this.#end['status']);
      const iterations = count(num(this.#end['iterations']), 'iteration');
      const took = duration(this.#now);
      end.text = `${status} after ${this.#invocation() ? took : `${iterations}, ${took}`}`;
      if (status === 'ack') end.style = undefined;
      blame(end, this.#end['error']);
    }
    return end;
  }

  /** The turn and its start. */
  #headLines(): Styled[][] {
    const lines: Styled[][] = [];
    const field = (name: string, text: string): void => {
      if (text !== '') {
        lines.push([
          ['dim', name.padEnd(8)],
          [undefined, text],
        ]);
      }
    };
    const { engine, module, abi } = this.#header;
    const start = this.#start;
    if (start !== undefined) {
      const what = start['standalone'] === true ? 'dispatch' : 'turn';
      field(this.#invocation() ? 'invocation ' : what, str(start['id']));
      const now = num(start['now']);
      field('began', now >= 0 && now <= MAX_TIME ? new Date(now).toISOString() : String(now));
      if (this.#invocation()) field('session', `${str(start['session'])} of ${str(start['user'])}`);
    }
    const which = module !== '' && module !== engine ? `, module ${module.slice(0, 12)}` : '';
    field('engine', `${engine}${which}, ABI ${abi >>> 16}.${abi & 0xffff}`);
    if (start !== undefined) {
      const { chat, tools } = this.#runners.get(num(start['runner'])) ?? {};
      const { model, provider, baseURL } = fields(chat);
      const of = str(provider) === '' ? '' : ` of ${str(provider)}`;
      const at = str(baseURL) === '' ? '' : ` at ${str(baseURL)}`;
      field('model', str(model) + of + at);
      const names = list(tools).map((tool) => str(fields(tool)['name']));
      field('tools', names.join(', '));
      field('system', this.#cut(str(start['systemPrompt'])));
    }
    lines.push([]);
    return lines;
  }

  #add(label: string, depth: number, text = '', style?: Style, more?: Partial<Moment>): Moment {
    const moment = { ...newMoment(label, this.#now, depth, text, style), ...more };
    this.#moments.push(moment);
    return moment;
  }

  #history(n: number, collection: string): void {
    this.#add('history', 0, `${n} ${collection}`, 'dim');
  }

  /** The indentation of a context. */
  #depth(context: number): number {
    if (this.#invocation()) return Math.min(context, 1); // model calls, one after the other
    return (this.#depths.get(context) ?? 0) + (this.#iterating.has(context) ? 1 : 0);
  }

  #begin(f: Fields): void {
    this.#start = f;
    for (const block of [f['message'], ...list(f['initial'])]) {
      const { collection, count: n, data } = fields(block);
      if (str(collection) !== 'messages' || !Array.isArray(data)) {
        if (num(n) > 0) this.#history(num(n), str(collection));
        continue;
      }
      for (const record of data) {
        const { role, content } = fields(record);
        this.#say(this.#add(str(role), 0), str(content));
      }
    }
  }

  /** Gives a moment a text of the conversation: all of it, or the beginning. */
  #say(moment: Moment, text: string): void {
    if (this.#verbose) [moment.text, ...moment.body] = text.split('\n') as [string, ...string[]];
    else moment.text = short(text);
  }

  /** A text in one line; unchanged in verbose mode. */
  #cut(text: string): string {
    return this.#verbose ? text : short(text);
  }

  /** Whether the journal is that of an invocation. */
  #invocation(): boolean {
    return this.#start?.['frame'] === 'StartInvocation';
  }

  /** Takes an effect of an invocation. Requests of models that are functions count, and so do calls of tools. */
  #invoked(f: Fields): void {
    const args = fields(f['args']);
    const add = (label: string, style: Style | undefined, text = ''): Moment => {
      // Of what it has stored ahead the module only hears if the store fails.
      const ends = f['kind'] !== 'sessionAppend' || args['ahead'] !== true;
      const m = this.#add(label, this.#depth(num(f['context'])), text, style, { ends });
      this.#effects.set(num(f['effect']), m);
      return m;
    };
    switch (f['kind']) {
      case 'sessionAppend':
        add('event', undefined, this.#saidIn(fields(args['event']), true));
        break;
      case 'sessionDeliver':
        add('partial', 'dim', this.#saidIn(fields(args['event']), false));
        break;
      case 'sessionHook':
        add('hook', 'dim', str(args['hook'])).hidden = !this.#verbose;
        break;
      case 'sessionAgent':
        add('agent', 'dim', this.#agents.get(num(args['agent'])) ?? '');
        break;
      case 'sessionModel':
        add('model', undefined, 'request');
        this.#requests++;
        break;
      case 'tool': {
        const { tool, args: given } = fields(f['args']);
        const name = this.#named.get(num(tool)) ?? '';
        add('tool', 'cyan', spaced(name, this.#cut(jsonOf(given))));
        this.#called++;
        break;
      }
      default:
        this.#effect(f);
    }
  }

  /** Who says what in an event. The tokens of one that is stored count. */
  #saidIn(event: Fields, stored: boolean): string {
    const said = [`${str(event['author'])}:`];
    for (const part of list(fields(event['content'])['parts']).map(fields)) {
      const text = this.#cut(str(part['text']));
      if (text !== '') said.push(text);
      for (const [member, arrow] of FUNCTIONS) {
        const given = part[member];
        if (isObject(given)) said.push(`${arrow} ${str(given['name'])}`);
      }
    }
    const code = str(event['errorCode']);
    if (code !== '') said.push(`✗ ${code}`);
    const { promptTokens, completionTokens } = fields(event['usage']);
    if (stored) {
      this.#tokensIn += num(promptTokens);
      this.#tokensOut += num(completionTokens);
    }
    return said.join(' ');
  }

  #effect(f: Fields): void {
    const kind = str(f['kind']);
    const label = kind === 'store' ? 'write' : kind;
    const m = this.#add(label, this.#depth(num(f['context'])), '', 'dim', { ends: kind !== '' });
    this.#effects.set(num(f['effect']), m);
    const args = fields(f['args']);
    const body = bytesOf(args['body']);
    switch (kind) {
      case 'executor':
        m.style = undefined;
        m.text = `iteration ${num(args['iteration'])}`;
        break;
      case 'middleware':
        m.text = `${str(args['pipeline'])} ${num(args['index'])}`;
        break;
      case 'tool': // its events are shown
        m.hidden = true;
        break;
      case 'store':
        m.text = spaced(str(args['write']), str(args['collection']), str(args['id']));
        break;
      case 'commit':
      case 'discard':
        m.text = list(args['deltas'])
          .map(fields)
          .map(({ write, collection }) => `${str(write)} ${str(collection)}`)
          .join(', ');
        break;
      case 'http':
        m.style = undefined;
        m.text = `${str(args['method'])} ${str(args['url'])}`;
        if (body.length > 0) m.text += `, ${body.length} bytes`;
        this.#attach(m, body);
        this.#requests++;
        break;
      case 'model':
        m.style = undefined;
        m.text = `${str(args['model'])}, ${body.length} bytes`;
        this.#attach(m, body);
        this.#requests++;
        break;
      default:
        m.text = short(JSON.stringify(f['args']) ?? '');
    }
  }

  /** Shows a body in verbose mode. */
  #attach(moment: Moment, body: Uint8Array): void {
    if (!this.#verbose || body.length === 0) return;
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
    moment.body.push(...text.replace(/[\r\n]+$/, '').split('\n'));
  }

  #chunk(m: Moment, f: Fields): void {
    if (num(f['status']) !== 0) {
      m.status = num(f['status']);
      m.head = this.#now;
    }
    const data = bytesOf(f['data']);
    m.size += data.length;
    if (this.#verbose) m.chunks.push(data);
  }

  /** Shows the outcome of an effect or a call. */
  #settle(m: Moment, f: Fields): void {
    if (m.ended) return;
    m.ended = true;
    if (m.status !== 0) m.tail += ` → ${m.status} after ${duration(m.head - m.at)}`;
    if (m.size > 0) m.tail += `, ${m.size} bytes`;
    m.tail += `, ${duration(this.#now - m.at)}`;
    this.#attach(m, joined(m.chunks));
    blame(m, f['error']);
  }

  #event(f: Fields): void {
    const dispatch = num(f['dispatch']);
    const depth = this.#depth(dispatch);
    const p = fields(f['payload']);
    const kind = str(f['kind']);
    const key = str(p['callId']) + str(p['executionId']);
    switch (kind) {
      case 'message':
      case 'thought':
      case 'messageInterrupted':
      case 'thoughtInterrupted': {
        const label = kind.replace(/Interrupted$/, '');
        const stream = label + str(p['id']);
        const m =
          this.#streams.get(stream) ??
          this.#add(label, depth, '', label === 'thought' ? 'dim' : undefined);
        this.#streams.set(stream, m);
        m.said += str(p['delta']);
        this.#say(m, m.said);
        if (label !== kind) m.tail = ' (broken off)';
        break;
      }
      case 'dispatchStart':
        this.#dispatches.set(dispatch, this.#add('dispatch', depth - 1, String(dispatch)));
        break;
      case 'dispatchEnd': {
        const m = this.#dispatches.get(dispatch);
        if (m === undefined) break;
        const iterations = count(num(p['iterations']), 'iteration');
        m.tail = ` → ${str(p['status'])} after ${iterations}, ${duration(this.#now - m.at)}`;
        blame(m, p['error']);
        break;
      }
      case 'iterationStart':
        this.#iterations.set(dispatch, this.#add('iteration', depth, String(num(f['iteration']))));
        this.#iterating.add(dispatch);
        break;
      case 'iterationEnd': {
        this.#iterating.delete(dispatch);
        const m = this.#iterations.get(dispatch);
        if (m === undefined) break;
        m.tail = ` → ${str(p['status'])}, ${duration(this.#now - m.at)}`;
        const n = list(p['discarded']).length;
        if (n > 0) m.tail += `, ${count(n, 'write')} discarded`;
        break;
      }
      case 'toolExecutionStart': {
        const text = `${str(p['tool'])} ${this.#cut(jsonOf(p['args']))}`;
        this.#tools.push(this.#add('tool', depth, text, 'cyan', { key, ends: true }));
        this.#called++;
        break;
      }
      case 'toolExecutionEnd': {
        const m = this.#tools.find((tool) => tool.key === key && !tool.ended);
        if (m === undefined) break;
        m.ended = true;
        m.tail = `, ${duration(this.#now - m.at)}`;
        break;
      }
      case 'toolCall':
        if (p['complete'] === true) this.#result(depth, p);
        break;
      case 'turnGateOpen': {
        const m = this.#add('gate', depth, spaced(str(p['id']), str(p['reason'])), 'yellow');
        if (isGiven(p['payload'])) m.text += ` ${this.#cut(jsonOf(p['payload']))}`;
        m.tail = ' → open';
        this.#gates.set(num(p['gate']), m);
        break;
      }
      case 'turnGateClosed': {
        const m = this.#gates.get(num(p['gate']));
        if (m !== undefined) m.tail = ` → ${str(p['result'])} after ${duration(this.#now - m.at)}`;
        break;
      }
      case 'log': {
        const level = LEVELS[num(p['level'])] ?? 'log';
        const text = `${level} ${spaced(str(p['kind']), str(p['message']))}`;
        const m = this.#add('log', depth, text, 'dim');
        if (isGiven(p['payload'])) m.text += ` ${this.#cut(jsonOf(p['payload']))}`;
        break;
      }
      case 'warning': {
        const text = `${str(p['kind'])}: ${str(p['message'])}`;
        const m = this.#add('warning', depth, text, 'yellow');
        const error = failureOf(p['error']);
        if (error !== undefined) m.tail = ` ✗ ${error}`;
        break;
      }
      case 'error': {
        const error = failureOf(p['error']);
        if (error !== undefined) this.#add('error', depth, error, 'red');
        break;
      }
      case 'generationStats':
        this.#stats(depth, p['stats']);
        break;
      default:
    }
  }

  /** Shows the result of a tool call, and first the call itself if it was refused before it ran. */
  #result(depth: number, p: Fields): void {
    const [checksum, execution] = [str(p['checksum']), str(p['executionId'])];
    const at = this.#tools.findIndex(
      ({ key }) => key === checksum + execution || (execution === '' && key.startsWith(checksum)),
    );
    let [m] = at < 0 ? [] : this.#tools.splice(at, 1);
    if (m === undefined) {
      const text = spaced(str(p['tool']), this.#cut(jsonOf(p['args'])));
      m = this.#add('tool', depth, text, 'cyan', { ends: true, ended: true, tail: ', not run' });
    }
    let text = '(the host has the result)';
    if (p['results'] === 'value') {
      text = typeof p['value'] === 'string' ? p['value'] : jsonOf(p['value']);
    } else if (p['results'] === 'none') text = '(no result)';
    const failed = p['isError'] === true;
    if (failed) m.style = 'red';
    const [first, ...rest] = this.#verbose ? text.split('\n') : [short(text)];
    m.body.push(`${failed ? '✗' : '←'} ${first!}`, ...rest);
  }

  #stats(depth: number, stats: unknown): void {
    const { promptTokens, completionTokens, finishReason, model } = fields(stats);
    this.#tokensIn += num(promptTokens);
    this.#tokensOut += num(completionTokens);
    const m = this.#add('tokens', depth, '', 'dim');
    m.text = `${num(promptTokens)} in, ${num(completionTokens)} out`;
    for (const more of [str(finishReason), str(model)]) if (more !== '') m.text += `, ${more}`;
    if (this.#verbose) m.body = [jsonOf(stats)];
  }
}

function newMoment(
  label: string,
  at: number,
  depth: number,
  text: string,
  style: Style | undefined,
): Moment {
  return {
    ...{ label, at, depth, text, style, tail: '', body: [], hidden: false, ends: false },
    ...{ ended: false, key: '', status: 0, head: 0, size: 0, chunks: [], said: '' },
  };
}

function momentLines(m: Moment): Styled[][] {
  if (!m.ended && m.ends && m.tail === '') m.tail = ', not ended';
  const indent = '  '.repeat(Math.max(m.depth, 0));
  const time = `${String(Math.trunc(m.at / 1000)).padStart(4)}.${String(m.at % 1000).padStart(3, '0')}  `;
  const text = `${indent}${m.label.padEnd(10)}  ${m.text}${m.tail}`;
  return [
    [
      ['dim', time],
      [m.style, trimEnd(text)],
    ],
    ...m.body.map((line): Styled[] => [
      [m.style, trimEnd(' '.repeat(TEXT_COLUMN) + indent + line)],
    ]),
  ];
}

function trimEnd(text: string): string {
  return text.replace(/ +$/, '');
}

/** Shows the error that ended a moment. */
function blame(m: Moment, error: unknown): void {
  const text = failureOf(error);
  if (text === undefined) return;
  m.tail += ` ✗ ${text}`;
  m.style = 'red';
}

/** Code, message and causes of an error on the wire; undefined for none. */
function failureOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, code, message, cause } = value as Fields;
  let text = str(code) === '' ? str(name) : str(code);
  if (str(message) !== '' && text !== '') text += ': ';
  text += str(message);
  const led = failureOf(cause);
  return led === undefined ? text : `${text} (because of ${led})`;
}

/** A text in one line; of a long one the beginning. */
export function short(text: string): string {
  let line = '';
  let length = 0;
  let gap = false;
  for (const char of text) {
    if (char === ' ' || (char >= '\t' && char <= '\r')) {
      gap = length > 0;
      continue;
    }
    if (gap && length < LONGEST) {
      line += ' ';
      length++;
    }
    gap = false;
    // A text can be megabytes: nothing beyond its beginning is read.
    if (length === LONGEST) return `${line}…`;
    line += char;
    length++;
  }
  return line;
}

function spaced(...words: string[]): string {
  return words.join(' ').trim();
}

function count(n: number, what: string): string {
  return n === 1 ? `1 ${what}` : `${n} ${what}s`;
}

/** A time in ms, for people. */
function duration(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60_000) return `${Math.trunc(ms / 1000)}.${Math.trunc((ms % 1000) / 100)} s`;
  return `${Math.trunc(ms / 60_000)} min ${Math.trunc((ms % 60_000) / 1000)} s`;
}

/** The bytes of a byte string: a JSON string, or `{"hex": …}`. */
function bytesOf(value: unknown): Uint8Array {
  if (typeof value === 'string') return new TextEncoder().encode(value);
  const hex = str(fields(value)['hex']);
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

// A field of the wrong type, as in a damaged journal, counts as empty.

function num(value: unknown): number {
  return Number.isSafeInteger(value) ? (value as number) : 0;
}

function str(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function jsonOf(value: unknown): string {
  return value === undefined ? '' : JSON.stringify(value);
}

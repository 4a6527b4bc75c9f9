/**
 * The structured log. Writing a line never fails, because lines often report another failure.
 */
import { Level, Method } from '../abi/frames.gen.js';
import type { Encoder } from '../codec/encoder.js';
import { errorJSON } from '../events/error-json.js';
import type { ContextState } from '../turn/context-state.js';
import { requireObject, requireString } from './arguments.js';

/** A line of the structured log. */
export interface LogLine {
  /** The subject of the line, for filters. */
  readonly kind: string;
  /** For people. */
  readonly message: string;
  /** JSON-like data of the line. Any other value is logged as text: an error as its code and message. */
  readonly payload?: unknown;
}

/**
 * Writes a line of the structured log. Writing never fails: without listeners and after the turn's end nothing
 * happens, and a payload that is not JSON-like becomes a text.
 *
 * @throws TurncoreError E_INVALID_VALUE if kind or message is not a string
 */
export type LogFn = (line: LogLine) => void;

/** The structured log, by weight. */
export interface Logger {
  readonly trace: LogFn;
  readonly debug: LogFn;
  readonly info: LogFn;
  readonly warn: LogFn;
  readonly error: LogFn;
}

/** The log of a dispatch. */
export function makeLogger(state: ContextState): Logger {
  const log =
    (level: number): LogFn =>
    (line) =>
      writeLog(state, level, line);
  return {
    trace: log(Level.Trace),
    debug: log(Level.Debug),
    info: log(Level.Info),
    warn: log(Level.Warn),
    error: log(Level.Error),
  };
}

/**
 * Writes a line. A payload that is not JSON-like is written as a text; after the turn has ended nothing is written.
 *
 * @throws TurncoreError E_INVALID_VALUE if kind or message is not a string
 */
function writeLog(state: ContextState, level: number, line: LogLine): void {
  requireObject(line, 'line');
  const kind = requireString(line.kind, 'kind');
  const message = requireString(line.message, 'message');
  const { payload } = line;
  const { turn } = state;
  try {
    turn.callNow(state.number, Method.Log, {
      level,
      kind,
      message,
      hasPayload: payload !== undefined,
      payload: (e) => writePayload(e, payload),
    });
  } catch {
    // The turn or its instance has ended: other calls report that.
  }
}

function writePayload(enc: Encoder, payload: unknown): void {
  const mark = enc.length;
  try {
    enc.value(payload, 'payload');
  } catch {
    enc.truncate(mark);
    enc.str(textOf(payload));
  }
}

/** Texts of payloads are cut to this many UTF-16 units. */
const MAX_TEXT = 8192;

/** The text for a value that is not JSON-like: its JSON, with errors as code and message. */
function textOf(value: unknown): string {
  for (const toText of [toJSON, String]) {
    try {
      const text = toText(value);
      if (text !== undefined) return text.slice(0, MAX_TEXT);
    } catch {
      // A value that contains itself, or an object without a prototype.
    }
  }
  return typeof value;
}

function toJSON(value: unknown): string | undefined {
  if (value instanceof Error) return String(value);
  return JSON.stringify(value, (_key, part: unknown) => {
    if (part instanceof Error) return errorJSON(part);
    return typeof part === 'bigint' ? String(part) : part;
  });
}

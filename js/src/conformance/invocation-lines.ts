/**
 * Lines of the log of an invocation.
 */
import { base64, canonicalJSON } from '../codec/canonical-json.js';
import { decodeValue } from '../codec/decoder.js';
import type { EventData } from '../entries/sessions.js';
import { isTurncoreError } from '../index.js';
import type { Line, Log } from './line.js';

/** Who writes lines besides agents, plugins and tools. */
export const MAIN = 'main';
export const STORE = 'store';

/** The lines of a scenario that is played. */
export class Lines {
  readonly #lines: { readonly by: string; readonly line: Line }[] = [];

  write(by: string, line: Line): void {
    this.#lines.push({ by, line: short(plain({ ...line, by })) as Line });
  }

  /** Writes that a step of the caller has ended. */
  did(what: string, failure?: { readonly error: unknown }): void {
    this.write(MAIN, {
      did: what,
      ...(failure !== undefined && { threw: described(failure.error) }),
    });
  }

  /**
   * The log. Of code that runs at once it has what the caller and the store have written, and then the others', by
   * their names; of such a scenario with a fault the former alone, as nobody can tell how far the others came.
   */
  log(together: boolean, faulty: boolean): Log {
    const place = (by: string): string => (by === MAIN || by === STORE ? '' : by);
    const list = [...this.#lines];
    if (faulty || together) {
      list.sort((a, b) => {
        const [x, y] = [place(a.by), place(b.by)];
        return x < y ? -1 : x > y ? 1 : 0;
      });
    }
    const shown = faulty && together ? list.filter(({ by }) => place(by) === '') : list;
    return shown.map(({ line }) => line);
  }
}

/** A value as JSON reads it; bytes are base64. */
export function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_, v: unknown) => (v instanceof Uint8Array ? base64(v) : v));
  return text === undefined ? null : JSON.parse(text);
}

/** A value as JSON reads it, whose long texts tell how long they are. They are ASCII. */
function short(value: unknown): unknown {
  if (typeof value === 'string' && value.length > 4096) {
    return `${value.slice(0, 10)}… ${value.length}`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(short);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, short(item)]));
}

/** An event, or an answer of a model, without what is empty, false or 0. */
export function plainEvent(event: object): Line {
  const { actions, longRunningToolIds: ids, ...others } = event as EventData;
  const line = { ...others, ...(ids !== undefined && { longRunningToolIds: [...ids] }) };
  return shown({ ...line, actions: shown(actions ?? {}) });
}

function shown(members: object): Line {
  const there = Object.entries(members).filter(([, value]) => {
    if (value === undefined || value === null || value === false) return false;
    if (value === '' || value === 0) return false;
    return typeof value !== 'object' || Object.keys(value as object).length > 0;
  });
  return plain(Object.fromEntries(there)) as Line;
}

/** A value that a store keeps, as JSON reads it. */
export function decoded(value: Uint8Array | null): unknown {
  return value === null ? null : plain(decodeValue(value));
}

/** An event in words. */
export function brief({ author = '', partial, content }: EventData): string {
  let words = `${partial === true ? '…' : ''}${author}:`;
  for (const { text = '', thought, functionCall, functionResponse } of content?.parts ?? []) {
    if (functionCall !== undefined) words += ` call ${functionCall.name}`;
    else if (functionResponse !== undefined) {
      const { name, response = {} } = functionResponse;
      words += ` ${name}=${canonicalJSON(response)}`;
    } else words += thought === true ? ` ~${text}` : ` ${text}`;
  }
  return words;
}

/** An error as lines have it. */
export function described(error: unknown): Line {
  const { name } = Object(error) as { name?: unknown };
  if (name === 'AbortError') return { code: 'aborted' };
  if (!isTurncoreError(error) || error.code === 'E_TOOL_DOWNSTREAM_ERROR') {
    let inner = error;
    while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
    return { message: inner instanceof Error ? inner.message : String(inner) };
  }
  const { code, message, status, fatal, details } = error;
  return {
    code,
    message,
    status,
    ...(fatal && { fatal }),
    ...(details !== undefined && { details }),
  };
}

/**
 * The frame that starts a turn.
 */
import { Op } from '../abi/frames.gen.js';
import { Encoder } from '../codec/encoder.js';
import type { HandleTable } from '../collections/handle-table.js';
import { Collections, type Entry, recordKind } from '../collections/kinds.js';
import { TurncoreError } from '../errors.js';
import { encodeBody } from '../primitives/body.js';
import type { Message } from '../primitives/message.js';
import type { Session } from './session.js';
import type { SessionInput } from './session-input.js';

/** Writes a StartTurn frame, and puts what it brings into the session's collections. */
export function encodeStart(
  enc: Encoder,
  session: Session,
  runner: number,
  seed: Uint8Array,
  input: SessionInput,
  message: Message | undefined,
): void {
  const { handles } = session;
  enc.arrayHeader(13);
  enc.int(Op.StartTurn);
  enc.int(session.number);
  enc.int(runner);
  enc.bool(input.standalone);
  enc.int(session.now);
  enc.bin(seed);
  enc.str(input.id);
  enc.str(input.systemPrompt.toString());
  const unique = [...new Set(input.instructions)];
  enc.arrayHeader(unique.length);
  for (const text of unique) {
    enc.arrayHeader(2);
    enc.int(handles.assign(text));
    enc.str(text.toString());
    session.root.set(Collections.instructions).mirror.push(text);
  }
  enc.value(input.stash, 'stash');
  encodeBlock(enc, Collections.messages, handles, message === undefined ? [] : [message]);
  const initial = input.initial
    .map((list, i) => [i, list] as const)
    .filter(([, list]) => list.length > 0);
  enc.arrayHeader(initial.length);
  for (const [collection, list] of initial) encodeInitial(enc, session, collection, list);
  enc.bool(session.root.aborted);
}

function encodeInitial(
  enc: Encoder,
  session: Session,
  collection: number,
  list: readonly Entry[],
): void {
  const unique = [...new Set(list)];
  const mirror = session.root.set(collection).mirror;
  for (const entry of unique) mirror.push(entry);
  encodeBlock(enc, collection, session.handles, unique);
}

/** Writes records as a Block: collection, first handle, count, bodies. */
function encodeBlock(
  enc: Encoder,
  collection: number,
  handles: HandleTable,
  entries: readonly Entry[],
): void {
  enc.arrayHeader(4);
  enc.int(collection);
  enc.int(handles.next);
  enc.int(entries.length);
  const mark = enc.beginBin(entries.length > 1 ? 1 << 16 : 64);
  for (const entry of entries) {
    handles.assign(entry);
    entry[encodeBody](enc);
  }
  enc.endBin(mark);
}

/**
 * What a start that the module did not take is refused with. One that breaks a limit of the ABI is told with the field
 * that has most of its bytes.
 */
export function refusedStart(
  error: unknown,
  input: SessionInput,
  message: Message | undefined,
): unknown {
  if (!(error instanceof TurncoreError) || error.code !== 'E_ABI_LIMIT_EXCEEDED') return error;
  let field = '';
  let most = 0;
  const measure = (name: string, write: (enc: Encoder) => void): void => {
    const enc = new Encoder();
    write(enc);
    if (enc.length > most) [field, most] = [name, enc.length];
  };
  const records = (enc: Encoder, list: readonly Entry[]): void => {
    for (const entry of list) entry[encodeBody](enc);
  };
  measure('systemPrompt', (enc) => enc.str(input.systemPrompt.toString()));
  measure('standingInstructions', (enc) => {
    for (const text of input.instructions) enc.str(text.toString());
  });
  measure('stash', (enc) => enc.value(input.stash, 'stash'));
  if (message !== undefined) measure('message', (enc) => records(enc, [message]));
  for (const [i, list] of input.initial.entries()) {
    measure(recordKind(i), (enc) => records(enc, list));
  }
  return TurncoreError.of(
    'E_ABI_LIMIT_EXCEEDED',
    `the start of the turn is too large; ${field} has ${most} bytes of it`,
    { cause: error, details: { ...(error.details as object | undefined), field } },
  );
}

/**
 * The frame that starts a turn.
 */
import { Collection } from '../abi/frames.gen.js';
import { type Block, type Instruction, writeStartTurn } from '../codec/tuples.gen.js';
import { Encoder } from '../codec/encoder.js';
import type { HandleTable } from '../collections/handle-table.js';
import { type Entry, recordKind } from '../collections/kinds.js';
import { TurncoreError } from '../errors.js';
import { encodeBody } from '../primitives/body.js';
import type { Message } from '../primitives/message.js';
import type { Turn } from './turn.js';
import type { TurnSetup } from './turn-setup.js';

/** Writes a StartTurn frame, and puts its records into the turn's collections. */
export function encodeStart(
  enc: Encoder,
  turn: Turn,
  runner: number,
  seed: Uint8Array,
  input: TurnSetup,
  message: Message | undefined,
): void {
  const { handles, root } = turn;
  const instructions: Instruction[] = [...new Set(input.instructions)].map((text) => {
    root.set(Collection.Instructions).mirror.push(text);
    return { handle: handles.assign(text), text: text.toString() };
  });
  const given = message === undefined ? [] : [message];
  writeStartTurn(enc, {
    turn: turn.number,
    runner,
    standalone: input.standalone,
    now: turn.now,
    seed,
    id: input.id,
    systemPrompt: input.systemPrompt.toString(),
    instructions,
    stash: (e) => e.value(input.stash, 'stash'),
    message: block(handles, Collection.Messages, given),
    initial: input.initial.flatMap((list, collection) =>
      list.length > 0 ? [initial(turn, collection, list)] : [],
    ),
    aborted: root.aborted,
  });
}

function initial(turn: Turn, collection: number, list: readonly Entry[]): Block {
  const unique = [...new Set(list)];
  const { mirror } = turn.root.set(collection);
  for (const entry of unique) mirror.push(entry);
  return block(turn.handles, collection, unique);
}

/** Records with new handles. */
function block(handles: HandleTable, collection: number, entries: readonly Entry[]): Block {
  const handle = handles.next;
  for (const entry of entries) handles.assign(entry);
  return {
    collection,
    handle,
    count: entries.length,
    data: (e) => {
      for (const entry of entries) entry[encodeBody](e);
    },
  };
}

/**
 * The error for a start that the module did not take. If it breaks a limit of the ABI, the error names the field with
 * the most bytes.
 */
export function refusedStart(
  error: unknown,
  input: TurnSetup,
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

/**
 * The journal of a turn, played in a fresh instance: what gates are open there, and which keys its effects have.
 */
import { EffectKind, EventKind, Method, Op, Settle } from '../abi/frames.gen.js';
import { type EffectFrame, readFrame, writeCall } from '../codec/tuples.gen.js';
import { framesOf } from '../codec/decoder.js';
import { Encoder } from '../codec/encoder.js';
import { loadModule, Module } from '../instance/module.js';
import type { HostOptions } from '../index.js';
import { readJournal } from '../journal/reader.js';
import type { MemoryJournal } from '../journal/writer.js';
import type { Frame } from './frame.js';
import { fields, Malformed } from './scenario.js';

/**
 * Plays the turn's journal, as far as it has been written, in a fresh instance.
 *
 * @param module what the turn runs in
 * @param arg with a value `resolve` the first open gate is resolved there; `keys: true` returns keys too
 * @returns the ids of the gates that are open there, the keys of its effects in order, and what follows when a gate is
 *   resolved: the gates that close, and the answer to the call that waits
 */
export async function reopen(
  f: Frame,
  module: HostOptions['module'],
  arg: unknown,
): Promise<unknown> {
  const given = fields(arg, 'resolve', 'keys');
  const journal = f.stage.values.get('journal') as MemoryJournal | undefined;
  if (journal === undefined) throw new Malformed('no journal is written');
  const { entries } = readJournal(journal.bytes());
  const loaded = module instanceof Module ? module : loadModule(module);
  const instance = await loaded.instantiate({ handshake: false });
  try {
    let turn = 0;
    const gates = new Map<number, string>();
    let told: string[] = [];
    const effects: EffectFrame[] = [];
    const step = (bytes: Uint8Array): void => {
      for (const frame of framesOf(readFrame, instance.step(bytes))) {
        if (frame.op === Op.Reply && frame.call !== SETTLING_CALL) told.push('answered');
        if (frame.op === Op.Effect) effects.push(frame);
        if (frame.op !== Op.Event) continue;
        turn = frame.turn;
        if (frame.kind === EventKind.TurnGateOpen) {
          gates.set(frame.payload.gate, frame.payload.id);
        } else if (frame.kind === EventKind.TurnGateClosed) {
          gates.delete(frame.payload.gate);
          told.push(`closed ${frame.payload.id}`);
        }
      }
    };
    for (const entry of entries) step(entry.in);
    const open = [...gates.values()];
    const keys = given['keys'] === true ? { keys: keysOf(entries, effects) } : {};
    const [first] = gates.keys();
    if (given['resolve'] === undefined || first === undefined) return { open, ...keys };
    told = [];
    step(settling(turn, first, given['resolve']));
    return { open, ...keys, then: told };
  } finally {
    instance.close();
  }
}

/** The keys of the effects that have one, of the turn that the journal starts. */
function keysOf(
  entries: readonly { readonly in: Uint8Array }[],
  effects: readonly EffectFrame[],
): string[] {
  const inbound = entries.flatMap((entry) => framesOf((d) => d.value() as unknown[], entry.in));
  const start = inbound.find(([op]) => op === Op.StartTurn);
  if (start === undefined) throw new Malformed('the journal starts no turn');
  const id = String(start[6]);
  const now = Number(start[4]).toString(36);
  return effects.flatMap((effect) => {
    switch (effect.kind) {
      case EffectKind.Tool:
        return [`${id}.${effect.path}.${effect.args.callId}.${effect.ordinal}`];
      case EffectKind.Store:
      case EffectKind.Commit:
      case EffectKind.Discard:
      case EffectKind.Spool:
        return [`${id}@${now}.e${effect.effect}`];
      default:
        return [];
    }
  });
}

/** The number of the call that resolves a gate. */
const SETTLING_CALL = 1 << 20;

/** The frame of a call that resolves a gate. */
function settling(turn: number, gate: number, value: unknown): Uint8Array {
  const enc = new Encoder();
  writeCall(enc, {
    turn,
    call: SETTLING_CALL,
    elapsed: 0,
    context: 0,
    method: Method.SettleGate,
    args: {
      gate,
      settle: Settle.Resolve,
      value: (e) => e.value(value, 'value'),
      digest: '',
      error: null,
    },
  });
  return enc.copy();
}

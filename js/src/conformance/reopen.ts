/**
 * The journal of a turn, played in a fresh instance: what gates are open there.
 */
import { EventKind, Method, Op, Settle } from '../abi/frames.gen.js';
import { decodeFrames } from '../codec/decoder.js';
import { Encoder } from '../codec/encoder.js';
import { loadModule, Module } from '../engine/module.js';
import type { HostOptions } from '../index.js';
import { readJournal } from '../journal/reader.js';
import type { MemoryJournal } from '../journal/writer.js';
import type { Frame } from './frame.js';
import { fields, Malformed } from './scenario.js';

/**
 * Plays the turn's journal, as far as it has been written, in a fresh instance.
 *
 * @param module what the turn runs in
 * @param arg with a value `resolve` the first open gate is resolved there
 * @returns the ids of the gates that are open there, and of those that close
 */
export async function reopen(
  f: Frame,
  module: HostOptions['module'],
  arg: unknown,
): Promise<unknown> {
  const given = fields(arg, 'resolve');
  const journal = f.stage.values.get('journal') as MemoryJournal | undefined;
  if (journal === undefined) throw new Malformed('no journal is written');
  const { entries } = readJournal(journal.bytes());
  const loaded = module instanceof Module ? module : loadModule(module);
  const instance = await loaded.instantiate({ handshake: false });
  try {
    let turn = 0;
    const gates = new Map<number, string>();
    const closed: string[] = [];
    const step = (bytes: Uint8Array): void => {
      for (const frame of decodeFrames(instance.step(bytes))) {
        if (frame[0] !== Op.Event) continue;
        turn = frame[1] as number;
        const payload = frame[8] as unknown[];
        if (frame[3] === EventKind.TurnGateOpen) {
          gates.set(payload[0] as number, payload[1] as string);
        } else if (frame[3] === EventKind.TurnGateClosed) {
          gates.delete(payload[0] as number);
          closed.push(payload[1] as string);
        }
      }
    };
    for (const entry of entries) step(entry.in);
    const open = [...gates.values()];
    const [first] = gates.keys();
    if (given['resolve'] === undefined || first === undefined) return { open };
    step(settling(turn, first, given['resolve']));
    return { open, closed };
  } finally {
    instance.close();
  }
}

/** The frame of a call that resolves a gate. */
function settling(turn: number, gate: number, value: unknown): Uint8Array {
  const enc = new Encoder();
  enc.arrayHeader(7);
  for (const field of [Op.Call, turn, 1 << 20, 0, 0, Method.SettleGate]) enc.int(field);
  enc.arrayHeader(5);
  enc.int(gate);
  enc.int(Settle.Resolve);
  enc.value(value, 'value');
  enc.str('');
  enc.nil();
  return enc.copy();
}

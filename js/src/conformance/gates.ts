/**
 * Gates that scripts wait at and settle.
 */
import { type TurnGate } from '../index.js';
import { FIXED_INSTANT } from '../entries/host.js';
import type { Frame, Operation } from './frame.js';
import { fields, Malformed, str } from './scenario.js';

/** Opens a gate and waits at it. */
export function waitFor(f: Frame, arg: unknown): Promise<unknown> {
  const given = fields(arg, 'id', 'reason', 'payload', 'schema', 'timeout');
  return f.inTurn.waitFor({
    id: 'gate',
    reason: 'why',
    payload: { ask: 1 },
    createdAt: FIXED_INSTANT,
    ...given,
  });
}

/** A gate that was opened, whether or not it is settled. */
export function gateOf(f: Frame, id: string): TurnGate {
  const gate = f.stage.values.get(`gate ${id}`);
  if (gate === undefined) throw new Malformed(`there is no gate ${id}`);
  return gate as TurnGate;
}

/** Operations that settle a gate. */
export const settling: Readonly<Record<'resolve' | 'reject' | 'abortGate', Operation>> = {
  resolve: (f, arg) => {
    const { gate: id, value, digest } = fields(arg, 'gate', 'value', 'digest');
    const gate = gateOf(f, str(id, 'gate'));
    if (digest === undefined) gate.resolve(value);
    else gate.resolve(value, { digest: digest === true ? gate.digest : str(digest) });
  },
  reject: (f, arg) => {
    const { gate: id, error } = fields(arg, 'gate', 'error');
    gateOf(f, str(id, 'gate')).reject(error === undefined ? undefined : f.stage.error(str(error)));
  },
  abortGate: (f, arg) => {
    const { gate: id } = fields(arg, 'gate');
    gateOf(f, str(id, 'gate')).abort();
  },
};

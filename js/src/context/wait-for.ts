/**
 * What waitFor takes, and how it becomes a call.
 */
import { Method } from '../abi/frames.gen.js';
import type { Write } from '../codec/encoder.js';
import { TurncoreError } from '../errors.js';
import type { ContextState } from '../turn/context-state.js';
import { isStandardSchema, type StandardSchema, validateNow } from '../tools/standard-schema.js';
import type { Timestamp } from '../primitives/timestamp.js';
import { check } from '../validation/rules.js';

/** What a gate is opened with. */
export interface RawTurnGate<Value = unknown> {
  /** Names the gate to who settles it. It should be unique among the gates that are open at the same time. */
  readonly id: string;
  /** What is to be decided, for people. */
  readonly reason: string;
  /** What there is to decide on: JSON-like data. null is fine, undefined is refused. */
  readonly payload: unknown;
  /** When the question arose. */
  readonly createdAt: Timestamp;
  /**
   * What resolutions must be: a JSON Schema, which the module checks by and whose defaults are filled in, or a Standard
   * Schema (of Zod, Valibot, ArkType …), which must not be asynchronous. Default: anything.
   */
  readonly schema?:
    StandardSchema<unknown, Value> | Readonly<Record<string, unknown>> | boolean | undefined;
  /** How long the gate stays open, whole ms from 1. Default: as long as it takes. */
  readonly timeout?: number | undefined;
}

/** Opens a gate, and waits until it is settled. */
export function waitFor(state: ContextState, raw: unknown): Promise<unknown> {
  const { turn, number } = state;
  const values = checked(raw);
  if (turn.standalone) {
    if (turn.waitFor === undefined) throw TurncoreError.of('E_LLM_EXECUTION_GATE_NOT_SUPPORTED');
    return Promise.resolve(turn.waitFor(raw));
  }
  const schema = values['schema'];
  const standard = isStandardSchema(schema);
  const args = {
    id: values['id'] as string,
    reason: values['reason'] as string,
    payload: fieldOf(values['payload'], 'payload'),
    createdAt: values['createdAt'] as number,
    schema: schema === undefined || standard ? null : fieldOf(schema, 'schema'),
    timeout: (values['timeout'] as number | undefined) ?? 0,
  };
  const validate = standard
    ? (value: unknown, id: string): unknown => validateNow(schema, id, value)
    : undefined;
  const answer = turn.gates.checking(validate, () => turn.callLater(number, Method.OpenGate, args));
  // turnGateClosed tells how a gate ended that nobody awaits: its abort must not end a process as an unhandled rejection.
  answer.catch(() => undefined);
  return answer;
}

/** The values of a gate. @throws TurncoreError E_INVALID_INITIAL_TURN_GATE_VALUE listing every violation */
function checked(raw: unknown): Readonly<Record<string, unknown>> {
  // null is something to decide on; the rules take it for absent.
  const empty = typeof raw === 'object' && raw !== null && 'payload' in raw && raw.payload === null;
  const values = check('TurnGate', empty ? { ...raw, payload: false } : raw);
  return empty ? { ...values, payload: null } : values;
}

/** Writes a field, which throws a TurncoreError E_INVALID_INITIAL_TURN_GATE_VALUE for what has no encoding. */
function fieldOf(value: unknown, name: string): Write {
  return (e) => {
    try {
      e.value(value, name);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw TurncoreError.of('E_INVALID_INITIAL_TURN_GATE_VALUE', why, { cause, details: [why] });
    }
  };
}

/**
 * The argument of waitFor, and its call.
 */
import { letGo } from '../awaitable.js';
import { turnGateRules } from '../abi/rules.gen.js';
import { Method } from '../abi/frames.gen.js';
import type { Write } from '../codec/encoder.js';
import { messageOf, TurncoreError } from '../errors.js';
import type { ContextState } from '../turn/context-state.js';
import { isStandardSchema, type StandardSchema, validateNow } from '../tools/standard-schema.js';
import type { Timestamp } from '../primitives/timestamp.js';
import type { CheckedAs } from '../validation/checked.js';
import { check } from '../validation/rules.js';

/** The fields of a new gate. */
export interface RawTurnGate<Value = unknown> {
  /** Identifies the gate in answers. It should be unique among open gates. */
  readonly id: string;
  /** The question, for people. */
  readonly reason: string;
  /** The data to decide on: JSON-like. null is valid, undefined is not. */
  readonly payload: unknown;
  /** When the question arose. */
  readonly createdAt: Timestamp;
  /**
   * The schema of resolutions: a JSON Schema, which the module checks and whose defaults it fills in, or a Standard
   * Schema (of Zod, Valibot, ArkType …), which must not be asynchronous. Default: any value.
   */
  readonly schema?:
    StandardSchema<unknown, Value> | Readonly<Record<string, unknown>> | boolean | undefined;
  /** How long the gate stays open, in whole ms from 1. Default: until it is settled. */
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
  const { schema } = values;
  const standard = isStandardSchema(schema);
  const args = {
    id: values.id,
    reason: values.reason,
    payload: fieldOf(values.payload, 'payload'),
    createdAt: values.createdAt,
    schema: schema === undefined || standard ? null : fieldOf(schema, 'schema'),
    timeout: values.timeout ?? 0,
  };
  const validate = standard
    ? (value: unknown, id: string): unknown => validateNow(schema, id, value)
    : undefined;
  const answer = turn.gates.checking(validate, () => turn.callLater(number, Method.OpenGate, args));
  // turnGateClosed reports the end of a gate that no code awaits: its abort must not end a process as an unhandled
  // rejection. A function made here would keep the arguments while the gate is open.
  letGo(answer);
  return answer;
}

/** The values of a gate. @throws TurncoreError E_INVALID_INITIAL_TURN_GATE_VALUE listing every violation */
function checked(raw: unknown): CheckedAs<typeof turnGateRules> {
  // null is valid data to decide on, but the rules treat it as absent.
  const empty = typeof raw === 'object' && raw !== null && 'payload' in raw && raw.payload === null;
  const values = check(turnGateRules, empty ? { ...raw, payload: false } : raw);
  return empty ? { ...values, payload: null } : values;
}

/** Writes a field. Throws a TurncoreError E_INVALID_INITIAL_TURN_GATE_VALUE for a value without an encoding. */
function fieldOf(value: unknown, name: string): Write {
  return (e) => {
    try {
      e.value(value, name);
    } catch (cause) {
      const why = messageOf(cause);
      throw TurncoreError.of('E_INVALID_INITIAL_TURN_GATE_VALUE', why, { cause, details: [why] });
    }
  };
}

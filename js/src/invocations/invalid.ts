/**
 * Errors about values that have no encoding.
 */
import type { SessionErrorCode } from '../abi/session-codes.gen.js';
import type { Write } from '../codec/encoder.js';
import { DEFAULT_LIMITS } from '../codec/limits.js';
import { isTurncoreError, messageOf, tooLarge, TurncoreError } from '../errors.js';
import { invocationError } from '../session-errors.js';
import { bytesOf } from './event-bytes.js';

/**
 * Writes a value.
 *
 * @param field name of the value
 * @throws TurncoreError of the code, which names the part that has no encoding
 */
export function writeAs(value: unknown, field: string, code: SessionErrorCode): Write {
  return (enc) => {
    try {
      enc.value(value, field);
    } catch (error) {
      throw refused(error, code, (at) => at);
    }
  };
}

/**
 * Writes a message.
 *
 * @throws TurncoreError E_INVALID_INVOCATION, which names the part that has no encoding; E_ABI_LIMIT_EXCEEDED, which
 *   names the text or the bytes that no frame holds
 */
export function writeMessage(message: object): Write {
  const write = writeAs(message, 'message', 'E_INVALID_INVOCATION');
  return (enc) => {
    try {
      write(enc);
    } catch (error) {
      const [, bytes] = / (\d+) bytes are more than a frame holds$/u.exec(messageOf(error)) ?? [];
      if (bytes === undefined) throw error;
      const field = fieldOf(error);
      const { code, message: why, details } = tooLarge(field, Number(bytes), DEFAULT_LIMITS.frame);
      throw new TurncoreError(code, why, { details: { ...(details as object), field } });
    }
  };
}

/**
 * Writes an event, or an answer of a model.
 *
 * @throws TurncoreError E_INVALID_EVENT, or E_INVALID_STATE for a change of the state; it names the member
 */
export function writeMembers(value: object): Write {
  return (enc) => {
    try {
      enc.value(value, 'event');
    } catch (error) {
      throw refusedMember(error);
    }
  };
}

/** @throws TurncoreError like {@link writeMembers}, unless an event has an encoding */
export function checkMembers(value: object): void {
  try {
    bytesOf(value, 'event');
  } catch (error) {
    throw refusedMember(error);
  }
}

function refusedMember(error: unknown): unknown {
  return refusedIn('event.actions', error, (at) => at.replace(/^event\.?/u, ''));
}

/** The error of a value that has no encoding. @param actions where its actions are @param named names the part */
function refusedIn(actions: string, error: unknown, named: (field: string) => string): unknown {
  const inState = fieldOf(error).startsWith(`${actions}.stateDelta`);
  return refused(error, inState ? 'E_INVALID_STATE' : 'E_INVALID_EVENT', named);
}

/**
 * Writes what a hook has answered: a map of value and actions.
 *
 * @param hook its name
 * @throws TurncoreError E_INVALID_EVENT, or E_INVALID_STATE for a change of the state; it names the hook and the member
 */
export function writeAnswer(hook: string, answer: object): Write {
  return (enc) => {
    try {
      enc.value(answer, 'answer');
    } catch (error) {
      throw refusedIn('answer.actions', error, (at) => at.replace(/^answer(?:\.value)?/u, hook));
    }
  };
}

/**
 * Writes what a tool's handler does besides its result.
 *
 * @throws TurncoreError E_INVALID_EVENT, or E_INVALID_STATE for a change of the state; it names the member
 */
export function writeActions(actions: object): Write {
  return (enc) => {
    try {
      enc.value(actions, 'actions');
    } catch (error) {
      throw refusedIn('actions', error, (at) => at);
    }
  };
}

/**
 * Writes the values of a state.
 *
 * @throws TurncoreError E_INVALID_STATE, which names the part of a value that has no encoding
 */
export function writeState(state: Readonly<Record<string, unknown>>): Write {
  return (enc) => {
    try {
      enc.value({ ...state }, 'state');
    } catch (error) {
      for (const [name, value] of Object.entries(state)) checkValue(value, name);
      throw refused(error, 'E_INVALID_STATE', (at) => at);
    }
  };
}

/** @throws TurncoreError E_INVALID_STATE unless the value of a name has an encoding */
export function checkValue(value: unknown, name: string): void {
  try {
    bytesOf(value, name);
  } catch (error) {
    throw refused(error, 'E_INVALID_STATE', (at) => at);
  }
}

/** The error of a code in place of E_INVALID_VALUE. */
function refused(error: unknown, code: SessionErrorCode, named: (at: string) => string): unknown {
  if (!isTurncoreError(error, 'E_INVALID_VALUE')) return error;
  const given = fieldOf(error);
  const field = named(given);
  const { message } = error;
  const reason = message.slice(message.indexOf(`${given}: `) + given.length + 2);
  const detail = field === '' ? reason : `${field}: ${reason}`;
  return invocationError(code, detail, { details: { field }, cause: error });
}

function fieldOf(error: unknown): string {
  const { details } = Object(error) as { details?: { field?: string } };
  return details?.field ?? '';
}

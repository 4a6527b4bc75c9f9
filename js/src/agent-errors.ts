/** The errors about agents' files. Their texts are apart from the others: what loads no agent does not load them. */
import { AGENT_CODES, type AgentErrorCode } from './abi/agent-codes.gen.js';
import { type ErrorClass, errorClass, TurncoreError, type TurncoreErrorOptions } from './errors.js';

/**
 * Makes an error with the text of an agent's code.
 *
 * @param detail follows that text after a colon
 */
export function agentError(
  code: AgentErrorCode,
  detail?: string,
  options?: TurncoreErrorOptions,
): TurncoreError {
  return TurncoreError.of(code, detail, options, AGENT_CODES[code]);
}

/** @internal Makes the class of the errors of a code. */
export function agentErrorClass<C extends AgentErrorCode>(code: C): ErrorClass<C> {
  return errorClass(code, AGENT_CODES[code]);
}

/**
 * Errors as plain data.
 */

/** An error in event lines. */
export interface ErrorJSON {
  /** The error's code, or its class name. */
  code: string;
  message: string;
  cause?: ErrorJSON;
}

/** Number of errors shown of a chain. */
const MAX_ERRORS = 8;

/** Code, message and cause of an error, or of any other thrown value. */
export function errorJSON(error: unknown, depth = 0): ErrorJSON {
  if (typeof error !== 'object' || error === null) return { code: 'Error', message: String(error) };
  const { code, name, message, cause } = error as Record<string, unknown>;
  const json: ErrorJSON = {
    code: typeof code === 'string' && code !== '' ? code : nameOf(name),
    message: typeof message === 'string' ? message : '',
  };
  if (typeof cause === 'object' && cause !== null && depth < MAX_ERRORS - 1) {
    json.cause = errorJSON(cause, depth + 1);
  }
  return json;
}

function nameOf(name: unknown): string {
  return typeof name === 'string' && name !== '' ? name : 'Error';
}

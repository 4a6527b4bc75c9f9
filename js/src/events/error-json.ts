/**
 * Errors as plain data.
 */

/** An error as event lines show it. */
export interface ErrorJSON {
  /** The error's code, or its class name. */
  code: string;
  message: string;
  cause?: ErrorJSON;
}

/** Errors of a chain that are shown. */
const MAX_ERRORS = 8;

/** Code, message and cause of an error, or of anything else that was thrown. */
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

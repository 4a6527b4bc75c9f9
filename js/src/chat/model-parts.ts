/**
 * Parts of an answer on their way to the module: each is checked, and becomes a line of JSON.
 */
import {
  modelErrorRules,
  modelPartRules,
  modelToolCallRules,
  type TypeRules,
  modelUsageRules,
} from '../abi/rules.gen.js';
import { isTurncoreError } from '../errors.js';
import { check, type Checked, phrase, violationError, within } from '../validation/rules.js';

/** The fields of a part that are objects, and the rules of these. */
const OBJECTS = { toolCall: modelToolCallRules, usage: modelUsageRules, error: modelErrorRules };

/**
 * The line of a part, including its line feed.
 *
 * @throws TurncoreError E_MODEL_INVALID_PART listing every violation
 */
export function lineOf(part: unknown): string {
  const violations: string[] = [];
  const fields: Record<string, unknown> = { ...gather(modelPartRules, part, '', violations) };
  for (const [name, type] of Object.entries(OBJECTS)) {
    if (fields[name] !== undefined) fields[name] = gather(type, fields[name], name, violations);
  }
  if (violations.length === 0 && Object.keys(fields).length === 0) {
    violations.push(phrase('noField', { type: 'part' }));
  }
  if (violations.length > 0) throw violationError('E_MODEL_INVALID_PART', violations);
  return `${JSON.stringify(fields)}\n`;
}

/** Checks an object: the whole part, or a named field. Adds its violations to the list. */
function gather(type: TypeRules, raw: unknown, field: string, violations: string[]): Checked {
  try {
    return check(type, raw);
  } catch (error) {
    if (!isTurncoreError(error) || !Array.isArray(error.details)) throw error;
    for (const violation of error.details as string[]) {
      violations.push(field === '' ? violation : within(field, violation));
    }
    return {};
  }
}

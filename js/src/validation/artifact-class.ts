/**
 * Checks functions that return a class of artifacts.
 */
import { letGo } from '../awaitable.js';
import { type Converter, invalid } from './field-kinds.js';

/** The methods that every artifact has. */
export const ARTIFACT_METHODS = [
  'head',
  'tail',
  'grep',
  'cat',
  'byteLength',
  'lineCount',
  'estimateTokens',
] as const;

/** Any class of artifacts, whatever its constructor takes. */
export type AnyArtifactClass = abstract new (
  ...args: never[]
) => Readonly<Record<(typeof ARTIFACT_METHODS)[number], unknown>>;

/** Whether a value is a class whose instances have the methods of an artifact. */
export function hasArtifactMethods(value: unknown): value is AnyArtifactClass {
  if (typeof value !== 'function') return false;
  const prototype: unknown = value.prototype;
  return (
    typeof prototype === 'object' &&
    prototype !== null &&
    ARTIFACT_METHODS.every(
      (name) => typeof (prototype as Record<string, unknown>)[name] === 'function',
    )
  );
}

/**
 * The kind of field `artifactClass`: a function that returns a class of artifacts. It is called once as a check.
 *
 * @param isClass recognizes such a class
 */
export function artifactClassOf<C>(isClass: (value: unknown) => value is C): Converter<() => C> {
  return (value) => {
    if (typeof value !== 'function' || value.length > 0) return invalid;
    const give = value as () => C;
    try {
      const made: unknown = give();
      letGo(made);
      return isClass(made) ? give : invalid;
    } catch {
      return invalid;
    }
  };
}

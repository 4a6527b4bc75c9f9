/**
 * What a class of artifacts must have, for fields that take what gives one.
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

/** Any class of artifacts, whatever it is constructed with. */
export type AnyArtifactClass = abstract new (
  ...args: never[]
) => Readonly<Record<(typeof ARTIFACT_METHODS)[number], unknown>>;

/** Tells whether a value is a class whose instances have an artifact's methods. */
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

/** The kind of field `artifactClass`: a function that gives a class of artifacts. It is asked once, to see that it does. */
export const toArtifactClass: Converter<() => AnyArtifactClass> = (value) => {
  if (typeof value !== 'function' || value.length > 0) return invalid;
  const give = value as () => AnyArtifactClass;
  try {
    const made: unknown = give();
    letGo(made);
    return hasArtifactMethods(made) ? give : invalid;
  } catch {
    return invalid;
  }
};

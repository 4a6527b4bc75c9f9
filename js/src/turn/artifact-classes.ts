/**
 * The classes of artifacts that a context's records hold.
 */
import { Collection } from '../abi/frames.gen.js';
import { Retrievable } from '../primitives/retrievable.js';
import {
  type ArtifactClass,
  classNameOf,
  SpooledArtifact,
} from '../primitives/spooled-artifact.js';
import { ToolCall } from '../primitives/tool-call.js';
import type { ContextState } from './context-state.js';

/** The classes by name, in order of appearance. If two share a name, the first counts. */
export function artifactClasses(state: ContextState): Map<string, ArtifactClass> {
  const classes = new Map<string, ArtifactClass>();
  const add = (value: unknown): void => {
    if (!(value instanceof SpooledArtifact)) return;
    const of = value.constructor as unknown as ArtifactClass;
    const name = classNameOf(of);
    if (!classes.has(name)) classes.set(name, of);
  };
  for (const entry of state.set(Collection.ToolCalls)) {
    if (!(entry instanceof ToolCall)) continue;
    for (const result of [entry.results].flat()) add(result);
  }
  for (const entry of state.set(Collection.Retrievables)) {
    if (entry instanceof Retrievable && !entry.inline) add(entry.content);
  }
  return classes;
}

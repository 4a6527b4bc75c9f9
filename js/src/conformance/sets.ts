/**
 * Collections of contexts, by their names in scripts.
 */
import type { Entry, RecordSet } from '../entries/records.js';
import { type AnyContext } from '../entries/runners.js';
import { Memory, Message, Retrievable, Thought, Tokenizable, ToolCall } from '../index.js';
import { Malformed } from './scenario.js';

/** The kinds of records: their classes, their names in those of methods, and the names of their collections. */
const kinds = [
  [Tokenizable, 'StandingInstruction', 'instructions'],
  [Memory, 'Memory', 'memories'],
  [Message, 'Message', 'messages'],
  [Thought, 'Thought', 'thoughts'],
  [Retrievable, 'Retrievable', 'retrievables'],
  [ToolCall, 'ToolCall', 'toolCalls'],
] as const;

/** A record's kind as the names of methods have it. */
export function kindOf(record: Entry): string {
  return kinds.find(([type]) => record instanceof type)?.[1] ?? '';
}

/** Whether a collection has this name. */
export function isSet(name: string): boolean {
  return kinds.some(([, , set]) => set === name);
}

/** The collection that a record belongs in. */
export function setOf(ctx: AnyContext, record: Entry): RecordSet<Entry> {
  return namedSet(ctx, kinds.find(([type]) => record instanceof type)?.[2] ?? '');
}

/** A collection of a context, by its name in scripts. */
export function namedSet(ctx: AnyContext, name: string): RecordSet<Entry> {
  const sets: Readonly<Record<string, unknown>> = {
    instructions: ctx.standingInstructions,
    memories: ctx.turnMemories,
    messages: ctx.turnMessages,
    thoughts: ctx.turnThoughts,
    retrievables: ctx.turnRetrievables,
    toolCalls: ctx.turnToolCalls,
  };
  const set = sets[name];
  if (set === undefined) throw new Malformed(`${name} are no kind of records`);
  return set as RecordSet<Entry>;
}

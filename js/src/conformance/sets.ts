/**
 * Collections of contexts, by their names in scripts.
 */
import type { Entry, RecordSet } from '../entries/records.js';
import { type AnyContext } from '../entries/runners.js';
import { Malformed } from './scenario.js';

/** The names of collections, by the classes of their records. */
const names: Readonly<Record<string, string>> = {
  Tokenizable: 'instructions',
  Memory: 'memories',
  Message: 'messages',
  Thought: 'thoughts',
  Retrievable: 'retrievables',
  ToolCall: 'toolCalls',
};

/** Whether a collection has this name. */
export function isSet(name: string): boolean {
  return Object.values(names).includes(name);
}

/** The collection that a record belongs in. */
export function setOf(ctx: AnyContext, record: Entry): RecordSet<Entry> {
  return namedSet(ctx, names[record.constructor.name] ?? '');
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

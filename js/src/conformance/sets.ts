/**
 * Collections of contexts, by their names in scripts.
 */
import { Tokenizable } from '../index.js';
import { type RecordSet } from '../entries/records.js';
import { type AnyContext } from '../entries/runners.js';
import type { AnyEntry } from './records.js';
import { Malformed } from './scenario.js';

/** The name of the collection that a record belongs in. */
export function kindOf(record: AnyEntry): string {
  if (record instanceof Tokenizable) return 'instructions';
  const names: Readonly<Record<string, string>> = {
    Memory: 'memories',
    Message: 'messages',
    Thought: 'thoughts',
    Retrievable: 'retrievables',
    ToolCall: 'toolCalls',
  };
  return names[record.constructor.name] ?? '';
}

/** The collection that a record belongs in. */
export function setOf(ctx: AnyContext, record: AnyEntry): RecordSet<AnyEntry> {
  return namedSet(ctx, kindOf(record));
}

/** A collection of a context, by its name in scripts. */
export function namedSet(ctx: AnyContext, name: string): RecordSet<AnyEntry> {
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
  return set as RecordSet<AnyEntry>;
}

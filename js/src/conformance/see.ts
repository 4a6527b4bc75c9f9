/**
 * What user code sees of a context.
 */
import { TurnContext } from '../index.js';
import type { Frame } from './frame.js';
import { gateOf } from './gates.js';
import { contentOf, idOf } from './records.js';
import { Malformed } from './scenario.js';
import { isSet, namedSet } from './sets.js';

/** What user code sees of a property. */
export function see(f: Frame, what: string): unknown {
  if (what.startsWith('call:')) return f.wrapped?.members[what.slice(5)] ?? null;
  if (what.startsWith('stash:')) return f.inTurn.stash.get(what.slice(6)) ?? null;
  if (what.startsWith('stash?')) return f.inTurn.stash.has(what.slice(6));
  if (what.startsWith('toolCallCount:')) return f.inDispatch.toolCallCount(what.slice(14));
  if (what.startsWith('gate?')) return f.stage.runner().gate(what.slice(5)) !== undefined;
  if (what.startsWith('settled:')) return gateOf(f, what.slice(8)).isSettled;
  const [name, part] = what.split('/') as [string, string | undefined];
  if (isSet(name)) {
    return [...namedSet(f.inTurn, name)].map(part === 'content' ? contentOf : idOf);
  }
  const read = properties[what];
  if (read === undefined) throw new Malformed(`there is nothing to see as ${what}`);
  return read(f);
}

const properties: Readonly<Record<string, (f: Frame) => unknown>> = {
  aborted: (f) => f.inTurn.aborted,
  abortSignal: (f) => f.inTurn.abortSignal.aborted,
  turnId: (f) => (f.inTurn instanceof TurnContext ? f.inTurn.id : null),
  systemPrompt: (f) => String(f.inTurn.systemPrompt),
  stash: (f) => f.inTurn.stash.all(),
  tools: (f) => f.inTurn.tools.all().map((tool) => tool.name),
  'tools/visible': (f) => f.inTurn.tools.visible().map((tool) => tool.name),
  'tools/hidden': (f) => f.inTurn.tools.hidden().map((tool) => tool.name),
  isSignalled: (f) => f.inDispatch.isSignalled,
  isAcked: (f) => f.inDispatch.isAcked,
  nackError: (f) => {
    const error = f.inDispatch.nackError;
    return error === undefined ? null : f.stage.describe(error);
  },
  iteration: (f) => f.inDispatch.iteration,
  dispatchId: (f) => f.inDispatch.dispatchId,
  idempotencyKey: (f) => f.inTurn.idempotencyKey ?? null,
  args: (f) => f.args,
};

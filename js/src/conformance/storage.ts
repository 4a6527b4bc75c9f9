/**
 * Storage callbacks that write to the log and do what scripts say.
 */
import type { Tokenizable } from '../index.js';
import { type Delta, DispatchContext, type Store, storeCallbacks } from '../index.js';
import type { Entry } from '../entries/records.js';
import { type AnyContext } from '../entries/runners.js';
import { type Conversation } from '../entries/stores.js';
import { then } from './then.js';
import { reader } from './reader.js';
import { contentOf, idOf, special } from './records.js';
import { Malformed, type RunnerSpec, str } from './scenario.js';
import type { Stage } from './stage.js';

const kinds = ['Memory', 'Retrievable', 'Message', 'Thought', 'ToolCall'];
const fetches = [
  'fetchMemories',
  'fetchMessages',
  'fetchThoughts',
  'fetchToolCalls',
  'fetchRetrievables',
];

type Callback = (ctx: AnyContext, a: never, b: never) => unknown;

/** The callbacks of a runner (with `Callback` behind their names) or of a raw context. */
export function storage(
  stage: Stage,
  spec: RunnerSpec,
  suffix: '' | 'Callback',
): Record<string, unknown> {
  const all: Record<string, Callback> = {};
  const called = (name: string, ctx: AnyContext, ...args: unknown[]): unknown =>
    stage.called(name, ctx, {}, args);
  // The contract counts a callback's parameters, so each is written out.
  for (const name of fetches) {
    all[name] = (ctx) => fetched(called(name, ctx), (item) => stage.record(item));
  }
  all['fetchTools'] = (ctx) => fetched(called('fetchTools', ctx), (item) => stage.tool(str(item)));
  all['refreshStandingInstructions'] = (ctx) =>
    fetched(called('refreshStandingInstructions', ctx), (item) => str(item));
  for (const kind of kinds) {
    for (const op of ['store', 'mutate']) {
      const name = op + kind;
      all[name] = (ctx: AnyContext, record: Entry) => {
        const id = idOf(record);
        const content = contentOf(record);
        const fields = special(record);
        const line = {
          ...(content === id ? {} : { content }),
          ...(Object.keys(fields).length === 0 ? {} : { fields }),
        };
        return stage.called(name, ctx, line, [id]);
      };
    }
    const name = `delete${kind}`;
    all[name] = (ctx: AnyContext, id: string) => called(name, ctx, id);
  }
  all['storeStandingInstruction'] = (ctx: AnyContext, value: Tokenizable) =>
    called('storeStandingInstruction', ctx, String(value));
  all['mutateStandingInstruction'] = (ctx: AnyContext, old: string, value: Tokenizable) =>
    called('mutateStandingInstruction', ctx, old, String(value));
  all['deleteStandingInstruction'] = (ctx: AnyContext, value: string) =>
    called('deleteStandingInstruction', ctx, value);
  for (const name of ['storeMediaBytes', 'storeRetrievableBytes']) {
    all[name] = (ctx: AnyContext, id: string, bytes: unknown) => {
      const text = bytes instanceof Uint8Array ? new TextDecoder().decode(bytes) : String(bytes);
      return then(called(name, ctx, id, text), (got) =>
        got === undefined ? reader(text) : got === 'nothing' ? undefined : got,
      );
    };
  }
  if (spec.storage?.['replaceToolCallGroup'] !== undefined) {
    all['replaceToolCallGroup'] = (
      ctx: AnyContext,
      ids: string[],
      replacements: readonly Entry[],
    ) => called('replaceToolCallGroup', ctx, ids, replacements.map(idOf));
  }
  if (spec.storage?.['commit'] !== undefined) {
    all['commit'] = (ctx: AnyContext, deltas: readonly Delta[]) =>
      called('commit', ctx, deltas.map(deltaWords));
  }
  if (spec.storage?.['discard'] !== undefined) {
    all['discard'] = (ctx: AnyContext, deltas: readonly Delta[], status: string) =>
      called('discard', ctx, deltas.map(deltaWords), status);
  }
  const own = (name: string): boolean =>
    spec.store === true ? spec.storage?.[name] !== undefined : spec.omit?.includes(name) !== true;
  const callbacks = Object.fromEntries(
    Object.entries(all)
      .filter(([name]) => own(name))
      .map(([name, callback]) => [name + suffix, callback]),
  );
  return spec.store === true ? { ...storeCallbacks(book(stage)), ...callbacks } : callbacks;
}

/** A store that writes to the log what it is given, and keeps nothing. */
function book(stage: Stage): Store {
  const nothing: Conversation = {
    ...{ messages: [], thoughts: [], toolCalls: [] },
    ...{ memories: [], retrievables: [], instructions: [] },
  };
  return {
    load: () => nothing,
    commit: (_session, { deltas }) => {
      stage.write({ store: deltas.map(deltaWords) });
      return '';
    },
    putBytes: noBytes,
    openBytes: noBytes,
  };
}

function noBytes(): never {
  throw new Malformed('the store of a scenario keeps no bytes');
}

/** What a fetch gives: what the items of a list stand for, or in their place `{instead: value}`. */
function fetched(got: unknown, item: (spec: unknown) => unknown): unknown {
  return then(got, (list) => {
    if (list === undefined) return [];
    if (Array.isArray(list)) return list.map(item);
    return (list as { instead?: unknown }).instead;
  });
}

/** Which of a context's kinds a callback was given. */
export function kindOf(ctx: AnyContext): 'turn' | 'dispatch' {
  return ctx instanceof DispatchContext ? 'dispatch' : 'turn';
}

function deltaWords(delta: Delta): string {
  const { op, kind } = delta;
  switch (op) {
    case 'replaceToolCallGroup':
      return [op, kind, ...delta.ids, 'by', ...delta.records.map(idOf)].join(' ');
    case 'delete':
      return [op, kind, delta.id].join(' ');
    case 'mutate':
      return [op, kind, ...(delta.old === undefined ? [] : [delta.old]), idOf(delta.record)].join(
        ' ',
      );
    default:
      return [op, kind, idOf(delta.record)].join(' ');
  }
}

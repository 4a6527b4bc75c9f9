/**
 * Storage callbacks that write to the log and do what scripts say.
 */
import type { Tokenizable, ToolCall } from '../index.js';
import { type Delta, DispatchContext, type Store, storeCallbacks } from '../index.js';
import type { Entry, RecordName } from '../entries/records.js';
import { type AnyContext } from '../entries/runners.js';
import { type Conversation } from '../entries/stores.js';
import { isThenable } from '../awaitable.js';
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
  /** Has the player's store keep what a callback writes, unless it fails. What the callback returns stays as it is. */
  const writes = (got: unknown, ...deltas: readonly Delta[]): unknown => {
    const keep = (): void => stage.keep(deltas);
    if (!isThenable(got)) keep();
    else if (got instanceof Promise) void got.then(keep, () => undefined);
    return got;
  };
  const instruction = 'standingInstruction';
  // The contract counts a callback's parameters, so each is written out.
  for (const name of fetches) {
    all[name] = (ctx) => fetched(called(name, ctx), (item) => stage.record(item));
  }
  all['fetchTools'] = (ctx) => fetched(called('fetchTools', ctx), (item) => stage.tool(str(item)));
  all['refreshStandingInstructions'] = (ctx) =>
    fetched(called('refreshStandingInstructions', ctx), (item) => str(item));
  for (const kind of kinds) {
    const kindName = (kind.charAt(0).toLowerCase() + kind.slice(1)) as Exclude<
      RecordName,
      'standingInstruction'
    >;
    for (const op of ['store', 'mutate'] as const) {
      const name = op + kind;
      all[name] = (ctx: AnyContext, record: Entry) => {
        const id = idOf(record);
        const content = contentOf(record);
        const fields = special(record);
        const line = {
          ...(content === id ? {} : { content }),
          ...(Object.keys(fields).length === 0 ? {} : { fields }),
        };
        const delta = { op, kind: kindName, record } as Delta;
        return writes(stage.called(name, ctx, line, [id]), delta);
      };
    }
    const name = `delete${kind}`;
    all[name] = (ctx: AnyContext, id: string) =>
      writes(called(name, ctx, id), { op: 'delete', kind: kindName, id });
  }
  all['storeStandingInstruction'] = (ctx: AnyContext, value: Tokenizable) =>
    writes(called('storeStandingInstruction', ctx, String(value)), {
      ...{ op: 'store', kind: instruction, record: value },
    });
  all['mutateStandingInstruction'] = (ctx: AnyContext, old: string, value: Tokenizable) =>
    writes(called('mutateStandingInstruction', ctx, old, String(value)), {
      ...{ op: 'mutate', kind: instruction, record: value, old },
    });
  all['deleteStandingInstruction'] = (ctx: AnyContext, value: string) =>
    writes(called('deleteStandingInstruction', ctx, value), {
      ...{ op: 'delete', kind: instruction, id: value },
    });
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
      replacements: readonly ToolCall[],
    ) =>
      writes(called('replaceToolCallGroup', ctx, ids, replacements.map(idOf)), {
        ...{ op: 'replaceToolCallGroup', kind: 'toolCall', ids, records: [...replacements] },
      });
  }
  if (spec.storage?.['commit'] !== undefined) {
    all['commit'] = (ctx: AnyContext, deltas: readonly Delta[]) =>
      writes(called('commit', ctx, deltas.map(deltaWords)), ...deltas);
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

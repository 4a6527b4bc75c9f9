/**
 * What steps of scripts may do.
 */
import { isThenable } from '../awaitable.js';
import { Tokenizable, type ToolCall, ToolRegistry } from '../index.js';
import { type GenerationStats, type LogLevel } from '../entries/events.js';
import {
  type AnyRecord,
  type Entry,
  History,
  type HistoryKind,
  type RecordSet,
} from '../entries/records.js';
import { type AnyContext } from '../entries/runners.js';
import { type CollisionPolicy } from '../entries/tools.js';
import { type Frame, type Operation, returned } from './frame.js';
import { abortSoon, hang, pause } from './hang.js';
import { idOf } from './records.js';
import { settling, waitFor } from './gates.js';
import { part, shown } from './part.js';
import { readArtifact, readMedia } from './read.js';
import { reopen } from './reopen.js';
import { fields, list, Malformed, only, Refusal, type Script, str, strs } from './scenario.js';
import { see } from './see.js';
import { kindOf, namedSet, setOf } from './sets.js';
import { textOperations } from './texts.js';

/** A step whose call throws at once if it fails. */
const now =
  (operation: Operation): Operation =>
  (frame, arg) => {
    const got = operation(frame, arg);
    if (isThenable(got)) throw new Malformed('a call that must answer at once returned a promise');
    return got;
  };

/** A step whose call returns a promise, also if it fails. */
const later =
  (operation: (frame: Frame, arg: unknown) => Promise<unknown>): Operation =>
  (frame, arg) => {
    let got: unknown;
    try {
      got = operation(frame, arg);
    } catch (error) {
      if (error instanceof Malformed) throw error;
      throw new Malformed(`a call that must return a promise threw: ${String(error)}`);
    }
    if (!isThenable(got)) throw new Malformed('a call that must return a promise returned a value');
    return got;
  };

const maybe = (frame: Frame, arg: unknown): unknown =>
  typeof arg === 'string' ? frame.stage.error(arg) : undefined;

/** The operations, by name. */
export const operations: Readonly<Record<string, Operation>> = {
  say: now((f, arg) => {
    f.stage.write({ by: f.by, said: str(arg) });
  }),
  see: now((f, arg) => {
    const saw = Object.fromEntries(strs(arg).map((what) => [what, see(f, what)]));
    f.stage.write({ by: f.by, saw });
  }),
  do: (f, arg) => f.do(list(arg) as Script),
  throw: (f, arg) => {
    throw f.stage.error(str(arg)) as Error;
  },
  refuse: (_f, arg) => {
    throw new Refusal(str(arg));
  },
  return: (f, arg) => {
    f.result = arg;
    throw returned;
  },
  returnPart: (f, arg) => {
    f.result = part(f.stage, arg);
    throw returned;
  },
  next: later((f, arg) => {
    if (f.wrapped !== undefined) return f.wrapped.next(f, arg);
    if (f.next === undefined) throw new Malformed(`${f.by} has no next`);
    return f.next();
  }),
  answer: later((f, arg) => {
    if (f.wrapped?.answer === undefined) throw new Malformed(`${f.by} wraps no model`);
    return f.wrapped.answer(arg);
  }),

  startNext: (f) => {
    if (f.next === undefined) throw new Malformed(`${f.by} has no next`);
    void f.next();
  },
  thenable: (f, arg) => {
    f.result = thenable(f, list(arg));
    throw returned;
  },

  ack: now((f) => f.inDispatch.ack()),
  nack: now((f, arg) => f.inDispatch.nack(maybe(f, arg))),
  abort: now((f, arg) => f.inTurn.abort(maybe(f, arg))),
  abortRun: now((f) => (f.stage.values.get('abort') as AbortController).abort()),
  onAck: now((f, arg) => {
    const { name, do: script } = fields(arg, 'name', 'do');
    const inner = f.as(str(name));
    const cancel = f.inDispatch.onAck(() => inner.run(list(script) as Script));
    f.stage.values.set(`onAck ${str(name)}`, cancel);
  }),
  offAck: now((f, arg) => (value(f, `onAck ${str(arg)}`) as () => void)()),

  keep: now((f, arg) => void f.stage.values.set(`kept ${str(arg)}`, f)),
  with: (f, arg) => {
    const { name, do: script } = fields(arg, 'name', 'do');
    const kept = value(f, `kept ${str(name)}`) as Frame;
    return kept.as(`${f.by} with ${str(name)}`).do(list(script) as Script);
  },

  store: later((f, arg) => silent(store(f.inTurn, f.stage.record(arg)))),
  mutate: later((f, arg) => silent(mutate(f, arg))),
  delete: later((f, arg) => remove(f.inTurn, ...only(arg))),
  commit: later((f) => f.inDispatch.commit()),
  startCommit: now((f) => {
    f.inDispatch.commit().catch(() => undefined); // nobody asks
  }),
  startStore: now((f, arg) => {
    store(f.inTurn, f.stage.record(arg)).catch(() => undefined); // nobody asks
  }),
  pause: () => pause(),
  replaceGroup: later((f, arg) => {
    const { ids, with: records } = fields(arg, 'ids', 'with');
    const calls = list(records).map((item) => f.stage.record(item) as ToolCall);
    return f.inTurn.replaceToolCallGroup(strs(ids), calls);
  }),
  storeBytes: later((f, arg) => {
    const { media, retrievable, bytes } = fields(arg, 'media', 'retrievable', 'bytes');
    const text = str(bytes, '');
    if (media === undefined) {
      const stored = f.inTurn.storeRetrievableBytes(str(retrievable), text);
      return stored.then((reader) => reader.readAll());
    }
    return f.inTurn.storeMediaBytes(str(media), text).then((reader) => reader.byteLength());
  }),
  fetch: later((f, arg) => fetchRecords(f, str(arg), false)),
  load: later((f, arg) => fetchRecords(f, str(arg), true)),
  add: now((f, arg) => {
    const record = f.stage.record(arg);
    setOf(f.inTurn, record).add(record);
  }),
  addHistory: now((f, arg) => addHistory(f, arg)),
  remove: now((f, arg) => {
    const record = f.stage.record(arg);
    return setOf(f.inTurn, record).delete(record);
  }),
  clear: now((f, arg) => namedSet(f.inTurn, str(arg)).clear()),

  report: now((f, arg) => report(f, arg)),
  log: now((f, arg) => {
    const { level, kind, ...rest } = fields(arg, 'level', 'kind', 'message', 'payload');
    const line = { kind: str(kind, 'k'), ...rest, message: str(rest['message'], '') };
    f.helper.log[str(level, 'info') as LogLevel](line);
  }),
  stats: now((f, arg) => f.helper.reportGenerationStats(arg as GenerationStats)),
  emit: now((f, arg) => {
    const { message, thought, delta, complete, interrupted } = fields(
      arg,
      'message',
      'thought',
      'delta',
      'complete',
      'interrupted',
    );
    const aDelta = str(delta, '');
    const content = { full: aDelta, aDelta, ...endOf(complete, interrupted) };
    if (thought !== undefined) f.inTurn.emitThought({ id: str(thought), ...content });
    else f.inTurn.emitMessage({ id: str(message), ...content });
  }),

  stashSet: now((f, arg) => {
    const [path, what] = list(arg);
    f.inTurn.stash.set(str(path), what);
  }),
  stashDelete: now((f, arg) => void f.inTurn.stash.delete(str(arg))),

  register: now((f, arg) => void f.inTurn.tools.register(f.stage.tool(str(arg)))),
  overwrite: now((f, arg) => void f.inTurn.tools.register(f.stage.tool(str(arg)), true)),
  unregister: now((f, arg) => f.inTurn.tools.unregister(str(arg))),
  hide: now((f, arg) => void f.inTurn.tools.hide(...strs(arg))),
  unhide: now((f, arg) => void f.inTurn.tools.unhide(...strs(arg))),
  setHidden: now((f, arg) => void f.inTurn.tools.setHidden(strs(arg))),
  pruneEphemeral: now((f) => void f.inTurn.tools.pruneEphemeral()),
  bindTools: now((f, arg) => {
    const { tools } = (value(f, `kept ${str(arg)}`) as Frame).inTurn;
    f.stage.values.set('bind', tools.bindContext(f.inDispatch));
  }),
  unbindTools: now((f) => (value(f, 'bind') as () => void)()),
  mergeTools: now((f, arg) => {
    const { lists, policy } = fields(arg, 'lists', 'policy');
    const registries = list(lists).map(
      (names) => new ToolRegistry(strs(names).map((name) => f.stage.tool(name))),
    );
    const onCollision = str(policy, 'throw') as CollisionPolicy;
    const merged = ToolRegistry.merge(registries, { onCollision });
    return merged.all().map((tool) => `${tool.name}: ${tool.description}`);
  }),
  execute: later((f, arg) => {
    const { tool, named, args } = fields(arg, 'tool', 'named', 'args');
    const found =
      named === undefined ? f.stage.tool(str(tool)) : f.inDispatch.tools.get(str(named));
    if (found === undefined) throw new Malformed(`there is no tool ${str(named)}`);
    return found
      .executor(f.inDispatch)(args as never)
      .then(shownResult);
  }),
  read: later((f, arg) => readArtifact(f, arg)),
  readMedia: later((f, arg) => readMedia(f, arg)),
  make: now((f, arg) => f.stage.make(arg)),
  print: now((f, arg) => String(f.stage.error(str(arg)))),
  estimate: now(textOperations.estimate),
  render: now(textOperations.render),
  setText: now(textOperations.setText),

  hang: (f, arg) => hang(f, arg),
  abortSoon: now((f) => abortSoon(f.stage.values)),
  waitFor: later((f, arg) => waitFor(f, arg)),
  resolve: now(settling.resolve),
  reject: now(settling.reject),
  abortGate: now(settling.abortGate),
  reopen: later((f, arg) => reopen(f, f.stage.module, arg)),
  advance: now((f, arg) => f.stage.advance(Number(arg))),
  run: later((f, arg) => f.stage.run(arg ?? {})),
  dispatch: later((f, arg) => f.stage.dispatch(f, arg)),
  listen: now((f, arg) => listen(f, arg)),
  unlisten: now((f, arg) => (value(f, `listen ${str(arg)}`) as () => void)()),
};

/** Something that only pretends to be a promise: it settles as a list says, at once. */
function thenable(f: Frame, how: readonly unknown[]): PromiseLike<unknown> {
  return {
    then(resolve: (value: unknown) => void, reject: (error: unknown) => void) {
      for (const item of how) {
        const [name, arg] = only(item);
        if (name === 'resolve') resolve(arg);
        else if (name === 'reject') reject(f.stage.error(str(arg)));
        else throw f.stage.error(str(arg)) as Error;
      }
    },
  } as unknown as PromiseLike<unknown>;
}

/** A promise whose value is not shown. */
function silent(promise: Promise<unknown>): Promise<void> {
  return promise.then(() => undefined);
}

/** A tool's result as a log has it. */
function shownResult(result: unknown): unknown {
  return result instanceof Tokenizable ? shown(result) : result;
}

function value(f: Frame, name: string): unknown {
  if (!f.stage.values.has(name)) throw new Malformed(`there is no ${name}`);
  return f.stage.values.get(name);
}

/** Calls a method of a context by its name, such as `storeMemory`. */
function ask(ctx: AnyContext, name: string, ...args: unknown[]): Promise<unknown> {
  const methods = ctx as unknown as Readonly<Record<string, unknown>>;
  const method = methods[name];
  if (typeof method !== 'function') throw new Malformed(`a context has no method ${name}`);
  return method.apply(ctx, args) as Promise<unknown>;
}

/** A name as other names have it inside. */
function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function store(ctx: AnyContext, record: Entry): Promise<unknown> {
  return ask(ctx, `store${kindOf(record)}`, record);
}

function mutate(f: Frame, arg: unknown): Promise<unknown> {
  const ctx = f.inTurn;
  if (typeof arg === 'object' && arg !== null && 'old' in arg) {
    const { old, instruction } = fields(arg, 'old', 'instruction');
    return ctx.mutateStandingInstruction(str(old), str(instruction));
  }
  const record = f.stage.record(arg);
  if (record instanceof Tokenizable) throw new Malformed('mutate takes a record');
  return ask(ctx, `mutate${kindOf(record)}`, record);
}

function remove(ctx: AnyContext, kind: string, id: unknown): Promise<unknown> {
  const name = kind === 'instruction' ? 'StandingInstruction' : capital(kind);
  return ask(ctx, `delete${name}`, str(id));
}

/** Asks storage for records and returns their ids; adds them to the collection if so wanted. */
async function fetchRecords(f: Frame, kind: string, load: boolean): Promise<unknown> {
  const ctx = f.inTurn;
  if (kind === 'tools') {
    const tools = await ctx.fetchTools();
    if (load) for (const tool of tools) ctx.tools.register(tool);
    return Array.isArray(tools) ? tools.map(({ name }) => name) : tools;
  }
  const read = kind === 'instructions' ? 'refreshStandingInstructions' : `fetch${capital(kind)}`;
  const records = (await ask(ctx, read)) as Entry[];
  if (load) namedSet(ctx, kind).addAll(records);
  if (!Array.isArray(records)) return records; // what storage gave, which is no list
  return records.map((record) => (typeof record === 'string' ? record : idOf(record)));
}

/** Adds the history of a name. The first time it is made of its records; later they are appended to it. */
function addHistory(f: Frame, arg: unknown): void {
  const { name, kind, records } = fields(arg, 'name', 'kind', 'records');
  const collection = str(kind, 'messages');
  const given = list(records ?? []).map((item) => f.stage.record(item)) as AnyRecord[];
  const key = `history ${str(name)}`;
  let history = f.stage.values.get(key) as History | undefined;
  if (history === undefined) {
    history = new History(collection as HistoryKind);
    f.stage.values.set(key, history);
  }
  history.append(...given);
  (namedSet(f.inTurn, collection) as RecordSet<AnyRecord>).addAll(history);
}

function report(f: Frame, arg: unknown): void {
  const { message, thought, toolCall, delta, complete, interrupted, ...partial } = fields(
    arg,
    'message',
    'thought',
    'toolCall',
    'delta',
    'complete',
    'interrupted',
    'tool',
    'args',
    'results',
    'isError',
  );
  const end = endOf(complete, interrupted);
  if (message !== undefined) f.helper.reportMessage(str(message), str(delta, ''), end);
  else if (thought !== undefined) f.helper.reportThought(str(thought), str(delta, ''), end);
  else f.helper.reportToolCall(str(toolCall), { ...partial, isComplete: end.isComplete });
}

/** How a report ends its stream. */
function endOf(
  complete: unknown,
  interrupted: unknown,
): { isComplete: boolean; isInterrupted: boolean | undefined } {
  return { isComplete: complete === true, isInterrupted: interrupted as boolean | undefined };
}

/** Events that hosts make, and only while a listener of one of them is there. */
export const hostMade = ['modelCallStart', 'modelCallEnd'] as const;

function listen(f: Frame, arg: unknown): void {
  const { event, do: script, once, name } = fields(arg, 'event', 'do', 'once', 'name');
  const by = str(name, 'listener');
  const { stage, operations: known } = f;
  const runner = stage.runner();
  const listener = (): unknown => {
    const frame = f.as(by);
    Object.assign(frame, { ctx: undefined, dispatch: undefined, operations: known });
    frame.call = stage.count(by);
    return frame.run(list(script) as Script);
  };
  const functional = ['message', 'thought', 'toolCall'].includes(str(event));
  const which = str(event) as never;
  const made = (hostMade as readonly string[]).includes(which);
  if (made) {
    if (once === true)
      throw new Malformed(`a listener of ${str(event)} is there as long as it is logged`);
    stage.logModelCalls(1);
  }
  if (functional) {
    if (once === true) runner.once(which, listener);
    else runner.on(which, listener);
  } else if (once === true) runner.observeOnce(which, listener);
  else runner.observe(which, listener);
  stage.values.set(`listen ${by}`, () => {
    if (functional) runner.off(which, listener);
    else runner.unobserve(which, listener);
    if (made) stage.logModelCalls(-1);
  });
}

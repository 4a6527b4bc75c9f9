/**
 * What the tests of turns share: the module, a runner whose callbacks keep a list, and events as short names.
 */
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import type { Module } from '../../src/instance/module.js';
import { loadModule } from '../../src/instance/module.js';
import {
  type DispatchContext,
  type DispatchExecutorFn,
  type DispatchExecutorHelpers,
  type HostOptions,
  type MemoryReader,
  Message,
  type TurnEvent,
  type TurnStream,
  type TurnInput,
  TurnRunner,
  type TurnRunnerConfig,
} from '../../src/index.js';
import { fixedClock, seededEntropy } from '../../src/entries/host.js';
import { type JournalSink } from '../../src/entries/replay.js';
import { type ConduitBytes, MemorySpoolStore } from '../../src/entries/stores.js';
import { buildGuest, missingGo } from '../instance/go-guest.js';

/** Why the tests of turns cannot run here, or false. */
export const skip = (await missingGo()) ?? false;

let module: Promise<Module> | undefined;

/** The core module, built once per process. */
export function coreModule(): Promise<Module> {
  module ??= buildGuest('./wasm/module').then((source) => loadModule(source));
  return module;
}

let full: Promise<Module> | undefined;

/** The full module, built once per process. */
export function fullModule(): Promise<Module> {
  full ??= buildGuest('./wasm/module', 'wasip1', 'full').then((source) => loadModule(source));
  return full;
}

/** A host whose clock stands still and whose randomness repeats, with collections compared after each step. */
export async function testHost(more: HostOptions = {}): Promise<HostOptions> {
  return {
    module: await coreModule(),
    clock: fixedClock(),
    entropy: seededEntropy(1),
    verify: true,
    ...(recordTo === undefined ? {} : { journal: recordTurn }),
    ...more,
  };
}

/** Folder that every turn's journal is written to, to be replayed on other engines; none unless the environment names one. */
const recordTo = process.env['TURNCORE_RECORD_TO'];
let recorded = 0;

function recordTurn(): JournalSink {
  recorded += 1;
  const file = openSync(join(recordTo!, `node-${process.pid}-${recorded}.journal`), 'wx');
  return { write: (bytes) => void writeSync(file, bytes) };
}

type Callbacks = Omit<TurnRunnerConfig, 'executorCallback'>;

/** Storage callbacks that write down what they were called with. */
export function recordingCallbacks(log: string[] = []): Callbacks {
  const write =
    (name: string) =>
    (_ctx: unknown, value: unknown): void => {
      const id = (value as { id?: string }).id ?? String(value);
      log.push(`${name} ${id}`);
    };
  const read = (_ctx: unknown): never[] => [];
  const spools = new MemorySpoolStore();
  const conduit = (_ctx: unknown, id: string, bytes: ConduitBytes): Promise<MemoryReader> => {
    log.push(`bytes ${id}`);
    return spools.write(id, bytes);
  };
  return {
    fetchMemoriesCallback: read,
    fetchMessagesCallback: read,
    fetchThoughtsCallback: read,
    fetchToolCallsCallback: read,
    fetchToolsCallback: read,
    fetchRetrievablesCallback: read,
    refreshStandingInstructionsCallback: read,
    storeStandingInstructionCallback: write('storeInstruction'),
    mutateStandingInstructionCallback: (ctx, old, text) =>
      write('mutateInstruction')(ctx, `${old} -> ${String(text)}`),
    deleteStandingInstructionCallback: write('deleteInstruction'),
    storeMemoryCallback: write('storeMemory'),
    mutateMemoryCallback: write('mutateMemory'),
    deleteMemoryCallback: write('deleteMemory'),
    storeRetrievableCallback: write('storeRetrievable'),
    mutateRetrievableCallback: write('mutateRetrievable'),
    deleteRetrievableCallback: write('deleteRetrievable'),
    storeMessageCallback: write('storeMessage'),
    mutateMessageCallback: write('mutateMessage'),
    deleteMessageCallback: write('deleteMessage'),
    storeThoughtCallback: write('storeThought'),
    mutateThoughtCallback: write('mutateThought'),
    deleteThoughtCallback: write('deleteThought'),
    storeToolCallCallback: write('storeToolCall'),
    mutateToolCallCallback: write('mutateToolCall'),
    deleteToolCallCallback: write('deleteToolCall'),
    storeMediaBytesCallback: conduit,
    storeRetrievableBytesCallback: conduit,
  };
}

/** An event as a short name: `tS`, `dE(ack,1)`, `err(E_…)`. */
export function short(event: TurnEvent): string {
  switch (event.event) {
    case 'modelCallStart':
      return 'mS';
    case 'modelCallEnd':
      return `mE(${event.status})`;
    case 'turnStart':
      return 'tS';
    case 'turnEnd':
      return `tE(${event.status})`;
    case 'dispatchStart':
      return 'dS';
    case 'dispatchEnd':
      return `dE(${event.status},${event.iterations})`;
    case 'iterationStart':
      return `iS(${event.iteration!})`;
    case 'iterationEnd':
      return `iE(${event.iteration!},${event.status})`;
    case 'message':
      return 'msg';
    case 'thought':
      return 'th';
    case 'toolCall':
      return `tc(${event.isComplete})`;
    case 'toolExecutionStart':
      return 'xS';
    case 'toolExecutionEnd':
      return `xE(${event.isError})`;
    case 'error':
      return `err(${codeOf(event.error)})`;
    case 'warning':
      return `warn(${event.kind})`;
    case 'log':
      return `log(${event.level})`;
    case 'turnGateOpen':
      return 'gO';
    case 'turnGateClosed':
      return `gC(${event.result})`;
    case 'generationStats':
      return 'stats';
  }
}

/** The code of an error, else its message. */
export function codeOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message ?? String(error);
}

/** A turn that was run, with what it gave. */
export interface Run {
  readonly runner: TurnRunner;
  /** Short names of all events, in order. */
  readonly names: string[];
  readonly events: TurnEvent[];
  /** Calls of the storage callbacks. */
  readonly writes: string[];
}

/** A runner that keeps its events. Nothing has run yet. */
export async function makeRun(
  executor: DispatchExecutorFn,
  config: Partial<TurnRunnerConfig> = {},
): Promise<Run> {
  const writes: string[] = [];
  const runner = new TurnRunner({
    ...recordingCallbacks(writes),
    executorCallback: executor,
    host: await testHost(),
    ...config,
  });
  const events: TurnEvent[] = [];
  const names: string[] = [];
  // A listener of errors gets the event after the error.
  const keep = (told: unknown, given = told): void => {
    const event = given as TurnEvent;
    events.push(event);
    names.push(short(event));
  };
  for (const name of ['message', 'thought', 'toolCall'] as const) runner.on(name, keep);
  const observed = [
    'turnStart',
    'turnEnd',
    'dispatchStart',
    'dispatchEnd',
    'iterationStart',
    'iterationEnd',
    'toolExecutionStart',
    'toolExecutionEnd',
    'turnGateOpen',
    'turnGateClosed',
    'log',
    'warning',
    'error',
    'generationStats',
  ] as const;
  for (const name of observed) runner.observe(name, keep);
  return { runner, names, events, writes };
}

/** Goes through the events of a turn, to its end. How it ended its result tells. */
export async function hear(stream: TurnStream, each: (event: TurnEvent) => void): Promise<void> {
  try {
    for await (const event of stream) each(event);
  } catch (error) {
    if (error !== (await stream.result).error) throw error;
  }
}

/** Runs one turn. */
export async function runTurn(
  executor: DispatchExecutorFn,
  config: Partial<TurnRunnerConfig> = {},
  input: Partial<TurnInput> = {},
): Promise<Run> {
  const run = await makeRun(executor, config);
  await run.runner.run({ systemPrompt: 'test', ...input });
  return run;
}

/** An executor of steps: step k runs in iteration k; past the end it acks. */
export function script(
  ...steps: ((ctx: DispatchContext, helpers: DispatchExecutorHelpers) => unknown)[]
): DispatchExecutorFn {
  return async (ctx, helpers) => {
    const step = steps[ctx.iteration];
    if (step === undefined) ctx.ack();
    else await step(ctx, helpers);
  };
}

/** A message. */
export function message(
  id: string,
  role: 'user' | 'assistant' = 'assistant',
  content = id,
): Message {
  return new Message({ id, role, content, createdAt: 1, updatedAt: 1 });
}

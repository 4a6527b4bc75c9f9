/**
 * The format of the corpus of invocations.
 */
import type { Content, EventData } from '../entries/sessions.js';
import type { Log } from './line.js';

/** One file of the corpus of invocations: the scenarios of a topic. */
export interface InvocationFile {
  readonly topic: string;
  readonly about: string;
  readonly scenarios: readonly InvocationScenario[];
}

/** Agents, what callers do, and what must come of it. */
export interface InvocationScenario {
  /** Unique in the corpus: `topic/name`. */
  readonly id: string;
  readonly title: string;
  /** Of the lines of the log. */
  readonly marks?: string;
  /** The root first. */
  readonly agents: readonly AgentSpec[];
  readonly plugins?: readonly PluginSpec[];
  readonly main: readonly InvocationStep[];
  readonly fault?: InvocationFault;
  readonly compaction?: CompactionSpec;
}

/** When sessions are summed up. Without `summaries`, which the host's function gives, a model sums up. */
export interface CompactionSpec {
  readonly invocations?: number;
  readonly tokens?: number;
  readonly overlap?: number;
  readonly keep?: number;
  readonly summaries?: readonly Act[];
}

/**
 * What goes wrong with a scenario's store, or with its caller. Appends and events are counted over the whole scenario,
 * from 1. Creating a session is an append.
 */
export interface InvocationFault {
  /** The append that stores nothing and fails. */
  readonly fails?: number;
  /** The append that stores, and fails nevertheless. */
  readonly lost?: number;
  /** The append before which somebody else appends to the session. */
  readonly writer?: number;
  /** The event at which the caller leaves. */
  readonly leaves?: number;
  /** The event at which the process is gone: the steps that follow are done on another host. */
  readonly gone?: number;
  /** The append that stores, and behind which the process is gone. */
  readonly dies?: number;
}

/** An agent. */
export interface AgentSpec {
  readonly name: string;
  readonly kind: string;
  readonly description?: string;
  readonly instruction?: string;
  readonly globalInstruction?: string;
  readonly outputKey?: string;
  readonly includeContents?: 'default' | 'none';
  readonly agents?: readonly string[];
  readonly longRunning?: readonly string[];
  readonly confirm?: readonly string[];
  readonly confirmHook?: readonly string[];
  readonly agentTools?: readonly AgentToolSpec[];
  readonly disallowTransferToParent?: boolean;
  readonly disallowTransferToPeers?: boolean;
  readonly maxIterations?: number;
  readonly model?: readonly (AnswerSpec | readonly AnswerSpec[])[];
  readonly tools?: Readonly<Record<string, readonly Act[]>>;
  readonly script?: readonly (readonly Operation[])[];
  readonly hooks?: Hooks;
}

/** An agent that is a tool. */
export interface AgentToolSpec {
  readonly agent: string;
  readonly inputSchema?: { readonly type: 'object' };
  readonly skipSummarization?: boolean;
}

/** A plugin. */
export interface PluginSpec {
  readonly name: string;
  readonly hooks: Hooks;
}

/** What callbacks do at each of their calls, by name. */
export type Hooks = Readonly<Record<string, readonly (Act | null)[]>>;

/** What a callback or a handler does at one of its calls. */
export interface Act {
  readonly value?: unknown;
  readonly result?: unknown;
  readonly fail?: string;
  readonly nothing?: boolean;
  readonly state?: Readonly<Record<string, unknown>>;
  readonly see?: readonly string[];
  readonly actions?: Readonly<Record<string, unknown>>;
  readonly wait?: number;
  readonly save?: Readonly<Record<string, string>>;
  readonly abort?: boolean;
}

/** What a generator does. */
export interface Operation {
  readonly yield?: EventData;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly see?: readonly string[];
  readonly load?: boolean;
  readonly message?: boolean;
  readonly run?: string;
  readonly fail?: string;
  readonly hold?: boolean;
  readonly finally?: string;
}

/** An answer of a model, or a part of one: its text, or what it has. */
export type AnswerSpec =
  | string
  | {
      readonly text?: string;
      readonly part?: string;
      readonly thought?: string;
      readonly hold?: boolean;
      readonly fail?: string;
      readonly see?: string;
      readonly calls?: readonly (string | CallSpec)[];
      readonly response?: EventData;
    };

/** A call of a function. */
export interface CallSpec {
  readonly name: string;
  readonly id?: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** What a caller does. One of the members is there. */
export interface InvocationStep {
  readonly create?: Target;
  readonly run?: Target;
  readonly rewind?: Target;
  readonly append?: Target;
  readonly retry?: Target;
  readonly load?: Target;
  readonly delete?: Target;
  readonly fork?: Target;
  readonly two?: readonly EventData[];
}

/** A session with what is done to it. */
export interface Target {
  readonly user?: string;
  readonly session?: string;
  readonly state?: Readonly<Record<string, unknown>>;
  readonly message?: string | Content;
  readonly stopAfter?: number;
  readonly maxModelCalls?: number;
  readonly load?: boolean;
  readonly before?: number;
  readonly id?: string;
  readonly event?: EventData;
  readonly change?: boolean;
  readonly others?: number;
  readonly to?: string;
  readonly upTo?: number;
}

/**
 * Whether code of the scenario runs at once: then the order of what it writes to the log tells nothing.
 */
export function together({ agents }: InvocationScenario): boolean {
  return agents.some(
    ({ kind, model = [] }) =>
      kind === 'parallel' ||
      model.flat().some((of) => typeof of === 'object' && (of.calls?.length ?? 0) > 1),
  );
}

/**
 * The scenario with faults: for each append of its log a store that fails there, one that stores and fails
 * nevertheless, and another writer that comes first; and for each event a caller that leaves there. A scenario with a
 * fault of its own has none.
 */
export function invocationVariants(scenario: InvocationScenario, log: Log): InvocationScenario[] {
  const { marks: _, ...plain } = scenario;
  const all: InvocationScenario[] = [];
  if (scenario.fault !== undefined) return all;
  const add = (what: string, n: number, fault: InvocationFault): void => {
    all.push({ ...plain, id: `${scenario.id} ${what} ${n}`, fault });
  };
  let appends = 0;
  let events = 0;
  for (const line of log) {
    if (line['by'] === 'store') {
      appends++;
      add('failing at append', appends, { fails: appends });
      add('losing the answer to append', appends, { lost: appends });
      add('with another writer before append', appends, { writer: appends });
    } else if (line['event'] !== undefined && !isRewind(line['event'] as EventData)) {
      events++;
      add('left at event', events, { leaves: events });
    }
  }
  return all;
}

function isRewind({ actions }: EventData): boolean {
  return actions?.rewindBeforeInvocationId !== undefined;
}

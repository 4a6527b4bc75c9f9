/**
 * What an invocation, its contexts and its agents know of each other. Lower files import these types instead of the
 * files above them.
 */
import type { Encoder } from '../codec/encoder.js';
import type { Content, Part } from './content.js';
import type { Event } from './event.js';
import type { RequestParts } from './shown.js';
import type { State } from './state.js';

/** An agent, as its context tells of it. */
export interface AgentInfo {
  readonly name: string;
  readonly description: string;
  /** The agents below it. */
  readonly subAgents: readonly AgentInfo[];
}

/** The session of an invocation, as code of the invocation sees it. */
export interface LiveSession {
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  /**
   * The state, with all changes that code of the invocation has made so far. A change here is seen by everybody in the
   * invocation. It is stored only if an event's `stateDelta` names it.
   */
  readonly state: State;
  /** The events that are stored, in order. */
  readonly events: readonly Event[];
}

/** The artifacts of an invocation's session. */
export interface OpenArtifacts {
  save(name: string, part: Part): Promise<number>;
  load(name: string, version?: number): Promise<Part | undefined>;
  list(): Promise<string[]>;
}

/** Has a signal, which is made when it is read. */
export interface Abortable {
  readonly signal: AbortSignal;
}

/** An invocation that runs, as its contexts see it. */
export interface OpenInvocation {
  readonly id: string;
  readonly message: Content | undefined;
  readonly root: Abortable;
  readonly session: LiveSession;
  readonly artifacts: OpenArtifacts;
  /** Makes a call that is answered in its step. */
  ask(method: number, write: ((enc: Encoder) => void) | null, context?: number): unknown;
  /** Makes a call that may be answered later. */
  later(method: number, write: (enc: Encoder) => void, context?: number): Promise<unknown>;
  /** What the model of a call is asked. */
  request(context: number): RequestParts;
  /** The name of the agent that a model call belongs to. */
  agentOf(context: number): string;
  /** Runs an agent for the generator of another one. */
  runAgent(run: number, agent: AgentInfo): AsyncGenerator<Event, void, undefined>;
}

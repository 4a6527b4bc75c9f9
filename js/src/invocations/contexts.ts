/**
 * What code of an invocation gets: the contexts of agents, of callbacks and of tools.
 */
import { SessionMethod } from '../abi/frames.gen.js';
import { writeActionsArgs } from '../codec/tuples.gen.js';
import { DispatchContext } from '../context/dispatch-context.js';
import { stateOf } from '../context/state-of.js';
import type { ContextState } from '../turn/context-state.js';
import type { Content, FunctionResponse, Part } from './content.js';
import type { Abortable, AgentInfo, LiveSession, OpenInvocation } from './contract.js';
import { type EventActions, functionCalls, functionResponses } from './event.js';
import { writeActions } from './invalid.js';
import { storedId } from './keys.js';
import { OwnActions } from './own-actions.js';
import { liveState, type State } from './state.js';

/** @internal Name of the property with the invocation of a context. */
export const invocationOf = Symbol('invocation');

/** @internal Name of the property with what the event of a callback does. */
export const actionsOf = Symbol('actions');

/** What code of an invocation has in common. */
abstract class Context {
  /** @internal */
  readonly [invocationOf]: OpenInvocation;

  readonly #of: Abortable;

  /** @internal */
  constructor(invocation: OpenInvocation, of: Abortable) {
    this[invocationOf] = invocation;
    this.#of = of;
  }

  /** The id of the invocation, which its events carry. */
  get invocationId(): string {
    return this[invocationOf].id;
  }

  /** What the user has said. */
  get userContent(): Content | undefined {
    return this[invocationOf].message;
  }

  /** Fires when the invocation is aborted, and when nobody wants what the code does. */
  get abortSignal(): AbortSignal {
    return this.#of.signal;
  }

  /** The session of the invocation. */
  get session(): LiveSession {
    return this[invocationOf].session;
  }

  /** An artifact's version, the last one by default; undefined if there is none. */
  loadArtifact(name: string, version?: number): Promise<Part | undefined> {
    return this[invocationOf].artifacts.load(name, version);
  }

  /** The names of the artifacts of the session and of the user, in the order of their UTF-8 bytes. */
  listArtifacts(): Promise<string[]> {
    return this[invocationOf].artifacts.list();
  }
}

/** What the generator of a custom agent gets. */
export class InvocationContext extends Context {
  /** The agent that runs. */
  readonly agent: AgentInfo;
  /** Of an agent below a parallel one: names from there on, joined by dots; empty for others. */
  readonly branch: string;
  /** @internal Names this run of the agent. */
  readonly run: number;
  readonly #input: Content | undefined;

  /** @internal */
  constructor(
    invocation: OpenInvocation,
    of: Abortable,
    agent: AgentInfo,
    { run, branch, input }: { run: number; branch: string; input: unknown },
  ) {
    super(invocation, of);
    this.#input = (input as Content | null) ?? invocation.message;
    this.agent = agent;
    this.run = run;
    this.branch = branch;
  }

  /** What the agent answers: what the user has said, or what the model asks that calls the agent as a tool. */
  override get userContent(): Content | undefined {
    return this.#input;
  }

  /**
   * Saves a version of an artifact. It belongs to the session, or to the user if its name begins with `user:`, once the
   * agent has yielded an event whose `artifactDelta` has it.
   *
   * @returns the version, from 0
   */
  saveArtifact(name: string, part: Part): Promise<number> {
    return this[invocationOf].artifacts.save(name, part);
  }
}

/** What callbacks of agents and plugins get. */
export class CallbackContext extends Context {
  /** The name of the agent; empty for a plugin that is called outside of agents. */
  readonly agentName: string;
  /** @internal */
  readonly [actionsOf] = new OwnActions(false);
  #state: State | undefined;

  /** @internal */
  constructor(invocation: OpenInvocation, of: Abortable, agentName: string) {
    super(invocation, of);
    this.agentName = agentName;
  }

  /** The state. A change is seen by everybody in the invocation, and is stored with the callback's event. */
  get state(): State {
    return (this.#state ??= liveState(this[invocationOf], this[actionsOf]));
  }

  /**
   * What the event does that the callback belongs to. Other actions may be put in place of these; what the callback has
   * written to the state and the artifacts that it has saved stay.
   */
  get actions(): EventActions {
    return this[actionsOf].given;
  }

  set actions(given: EventActions) {
    this[actionsOf].given = given;
  }

  /** The same as {@link actions}. */
  get eventActions(): EventActions {
    return this.actions;
  }

  set eventActions(given: EventActions) {
    this.actions = given;
  }

  /**
   * Saves a version of an artifact. It belongs to the session, or to the user if its name begins with `user:`, once the
   * callback's event is stored.
   *
   * @returns the version, from 0
   */
  saveArtifact(name: string, part: Part): Promise<number> {
    return save(this[invocationOf], this[actionsOf], name, part);
  }
}

/** Which call of a tool a context is for. */
export interface ToolExecution {
  readonly executionId: string;
  readonly providerCallId: string;
}

/** What the handlers of tools get. It is a context of a dispatch, too. */
export class ToolContext extends DispatchContext {
  /** The id of the function call. */
  readonly functionCallId: string;
  #state: State | undefined;
  readonly #executionId: string;
  readonly #actions = new OwnActions(true);

  /** @internal */
  constructor(
    state: ContextState,
    key: (() => string) | undefined,
    signal: AbortSignal | undefined,
    execution: ToolExecution | undefined,
  ) {
    super(state, key, signal);
    this.functionCallId = execution?.providerCallId ?? '';
    this.#executionId = execution?.executionId ?? '';
  }

  /** The state. A change is seen by everybody in the invocation, and is stored with the tool's answer. */
  get state(): State {
    return (this.#state ??= liveState(
      this.#invocation,
      this.#actions,
      this.#executionId,
      this[stateOf].number,
    ));
  }

  get #invocation(): OpenInvocation {
    return this[stateOf].turn as unknown as OpenInvocation;
  }

  /** What the event with the tool's answer does. Others may be put in place: see {@link CallbackContext.actions}. */
  get actions(): EventActions {
    return this.#actions.given;
  }

  set actions(given: EventActions) {
    this.#actions.given = given;
  }

  /**
   * What the user has answered who was asked to confirm the call: `confirmed` is true, and further members are as they
   * were given. It is undefined for a call that nobody was asked about.
   */
  get confirmation(): Readonly<Record<string, unknown>> | undefined {
    const responds = ({ id }: FunctionResponse): boolean => id === this.functionCallId;
    const answer = this.session.events.findLast(
      (event) => event.author === 'user' && functionResponses(event).some(responds),
    );
    return functionResponses(answer ?? {}).find(responds)?.response;
  }

  /**
   * Names the call, for systems that must not do the same thing twice. A call that the user has confirmed has the same
   * key whenever it is taken up: `SESSION.INVOCATION.CALL`, the id of the session in its store, that of the invocation,
   * and that of the function call. Others have the key of a {@link DispatchContext}.
   */
  override get idempotencyKey(): string | undefined {
    const { appName, userId, id, events } = this.session;
    const is = (one: { readonly id?: string }): boolean => one.id === this.functionCallId;
    const place = events.findLastIndex((event) => functionCalls(event).some(is));
    const answered = events
      .slice(place + 1)
      .some((event) => event.author === 'user' && functionResponses(event).some(is));
    if (place < 0 || !answered) return super.idempotencyKey;
    const session = storedId({ appName, userId, sessionId: id });
    return `${session}.${events[place]!.invocationId}.${this.functionCallId}`;
  }

  /** The same as {@link actions}. */
  get eventActions(): EventActions {
    return this.actions;
  }

  set eventActions(given: EventActions) {
    this.actions = given;
  }

  /** The id of the invocation, which its events carry. */
  get invocationId(): string {
    return this.#invocation.id;
  }

  /** The name of the agent whose model has called the tool. */
  get agentName(): string {
    return this.#invocation.agentOf(this[stateOf].number);
  }

  /** What the user has said. */
  get userContent(): Content | undefined {
    return this.#invocation.message;
  }

  /** The session of the invocation. */
  get session(): LiveSession {
    return this.#invocation.session;
  }

  /** Saves a version of an artifact: see {@link CallbackContext.saveArtifact}. */
  saveArtifact(name: string, part: Part): Promise<number> {
    return save(this.#invocation, this.#actions, name, part);
  }

  /** An artifact's version, the last one by default; undefined if there is none. */
  loadArtifact(name: string, version?: number): Promise<Part | undefined> {
    return this.#invocation.artifacts.load(name, version);
  }

  /** The names of the artifacts of the session and of the user, in the order of their UTF-8 bytes. */
  listArtifacts(): Promise<string[]> {
    return this.#invocation.artifacts.list();
  }

  /** @internal Tells the module what the handler has done besides its result. */
  tell(): void {
    const actions = this.#actions.value();
    if (actions === undefined) return;
    const { number } = this[stateOf];
    const executionId = this.#executionId;
    this.#invocation.ask(
      SessionMethod.Actions,
      (enc) => writeActionsArgs(enc, { executionId, actions: writeActions(actions) }),
      number,
    );
  }
}

async function save(
  invocation: OpenInvocation,
  actions: OwnActions,
  name: string,
  part: Part,
): Promise<number> {
  const version = await invocation.artifacts.save(name, part);
  actions.note('artifactDelta', name, version);
  return version;
}

/**
 * Events: what an invocation consists of.
 */
import { decodeValue } from '../codec/decoder.js';
import { copyValue } from '../stash/copy-value.js';
import { invocationError } from '../session-errors.js';
import { suggest } from '../validation/suggest.js';
import {
  type Content,
  type EventUsage,
  type FunctionCall,
  type FunctionResponse,
  type GivenBytes,
  type Part,
  withBytes,
} from './content.js';
import { eventJson } from './event-json.js';
import { checkMembers } from './invalid.js';
import { hasNames, invalidMember, isData, requireNames } from './names.js';

/** What a person is asked before a function call runs. */
export interface ConfirmationRequest {
  /** The function. */
  readonly name: string;
  /** The arguments with which it runs. */
  readonly args?: Readonly<Record<string, unknown>>;
  readonly hint?: string;
  readonly payload?: unknown;
}

/** The actions of an event: what it does besides what it says. */
export interface ActionsData {
  /** Values of the state that it sets, by name with scope. null deletes one. */
  readonly stateDelta?: Readonly<Record<string, unknown>>;
  /** Versions of artifacts that it adds, by name. */
  readonly artifactDelta?: Readonly<Record<string, number>>;
  /** The answer of a tool is the agent's answer: the model is not asked again. */
  readonly skipSummarization?: boolean;
  /** Name of the agent that goes on. */
  readonly transferToAgent?: string;
  /** Ends the loop around the agent. */
  readonly escalate?: boolean;
  /** What a person is asked, by the id of the function call that waits for it. */
  readonly requestedConfirmations?: Readonly<Record<string, ConfirmationRequest>>;
  /** Stands for a range of earlier events. */
  readonly compaction?: Readonly<Record<string, unknown>>;
  /** The state goes back to what it was before this invocation, which is hidden with all that came behind it. */
  readonly rewindBeforeInvocationId?: string;
}

/**
 * An event as plain data: what a session keeps.
 *
 * @typeParam Data what the bytes within its content are
 */
export interface EventData<Data = Uint8Array> {
  /** Unique in the session. */
  readonly id?: string;
  readonly invocationId?: string;
  /** `user`, or an agent's name. */
  readonly author?: string;
  /** In ms since the Unix epoch. */
  readonly timestamp?: number;
  /** Of an agent below a parallel one: names from there on, joined by dots. */
  readonly branch?: string;
  readonly content?: Content<Data> | undefined;
  /** Part of a stream: it is not stored, and its actions are not applied. */
  readonly partial?: boolean;
  readonly turnComplete?: boolean;
  readonly interrupted?: boolean;
  readonly finishReason?: string;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly usage?: EventUsage;
  /** Ids of function calls that wait for an answer from outside. */
  readonly longRunningToolIds?: Iterable<string>;
  readonly customMetadata?: Readonly<Record<string, unknown>>;
  readonly actions?: ActionsData;
}

/** The actions of an event in the making: code changes them as it likes. */
export class EventActions implements ActionsData {
  /** Values of the state to set, by name with scope. null deletes one. */
  stateDelta: Record<string, unknown>;
  /** Versions of artifacts that were added, by name. */
  artifactDelta: Record<string, number>;
  declare skipSummarization?: boolean;
  declare transferToAgent?: string;
  declare escalate?: boolean;
  declare requestedConfirmations?: Record<string, ConfirmationRequest>;
  declare compaction?: Record<string, unknown>;
  declare rewindBeforeInvocationId?: string;

  /** @throws TurncoreError E_INVALID_EVENT unless it is given an object */
  constructor(actions: ActionsData = {}) {
    requireNames(actions, 'actions', 'E_INVALID_EVENT');
    const { stateDelta, artifactDelta, ...others } = actions;
    this.stateDelta = ownCopy(stateDelta);
    this.artifactDelta = ownCopy(artifactDelta);
    Object.assign(this, others);
  }
}

/** A copy of what is given by name. What has no names is kept: it is refused where the actions go. */
function ownCopy<Values extends object>(given: Values | undefined): Values {
  return hasNames(given ?? {}) ? ({ ...given } as Values) : given!;
}

/** An event: frozen plain data with methods. */
export class Event implements EventData {
  declare readonly id: string;
  declare readonly invocationId: string;
  declare readonly author: string;
  declare readonly timestamp: number;
  declare readonly branch?: string;
  declare readonly content?: Content | undefined;
  declare readonly partial?: boolean;
  declare readonly turnComplete?: boolean;
  declare readonly interrupted?: boolean;
  declare readonly finishReason?: string;
  declare readonly errorCode?: string;
  declare readonly errorMessage?: string;
  declare readonly usage?: EventUsage;
  declare readonly longRunningToolIds?: readonly string[];
  declare readonly customMetadata?: Readonly<Record<string, unknown>>;
  readonly actions: Readonly<EventActions>;

  /**
   * Copies what it is given. Bytes may be base64, as JSON has them.
   *
   * @throws TurncoreError E_INVALID_EVENT, or E_INVALID_STATE for a change of the state, which names the member that is
   *   not JSON-like data
   */
  constructor(data: EventData<GivenBytes> = {}) {
    requireEvent(data);
    const { actions, longRunningToolIds: ids, ...others } = data;
    try {
      Object.assign(this, copyValue({ ...others, content: withBytes(others.content) }, 'event'));
      if (ids !== undefined) this.longRunningToolIds = listOf(ids);
      const own = hasNames(actions ?? {}) ? { ...actions } : actions;
      this.actions = new EventActions(copyValue(own, 'event.actions') as ActionsData);
    } catch (error) {
      checkMembers(eventValue(data));
      throw error;
    }
    freeze(this);
  }

  /** See {@link isFinalResponse}. */
  isFinalResponse(): boolean {
    return isFinalResponse(this);
  }

  /** What JSON.stringify writes: the same as Go, with bytes in base64 and without empty members. */
  toJSON(): Record<string, unknown> {
    return eventJson(eventValue(this));
  }

  /** See {@link functionCalls}. */
  getFunctionCalls(): FunctionCall[] {
    return functionCalls(this);
  }

  /** See {@link functionResponses}. */
  getFunctionResponses(): FunctionResponse[] {
    return functionResponses(this);
  }
}

/**
 * Whether an event ends an agent's answer: it has no function call and no function response, is not partial and does
 * not end with the result of code; or nobody shall put its function response into words, or it waits for an answer from
 * outside.
 */
export function isFinalResponse(event: EventData): boolean {
  const parts = partsOf(event);
  const { actions, longRunningToolIds: ids = [], partial } = event;
  if (actions?.skipSummarization === true || !ids[Symbol.iterator]().next().done) return true;
  if (partial === true) return false;
  if (parts.some(({ functionCall, functionResponse }) => functionCall ?? functionResponse)) {
    return false;
  }
  return parts.at(-1)?.codeExecutionResult === undefined;
}

/** The function calls of an event, in order. */
export function functionCalls(event: EventData): FunctionCall[] {
  return partsOf(event).flatMap(({ functionCall }) => functionCall ?? []);
}

/** The function responses of an event, in order. */
export function functionResponses(event: EventData): FunctionResponse[] {
  return partsOf(event).flatMap(({ functionResponse }) => functionResponse ?? []);
}

/** The parts of an event's content. @throws TurncoreError E_INVALID_EVENT unless it is an event */
function partsOf(event: EventData): readonly Part[] {
  requireEvent(event);
  const parts: unknown = event.content?.parts ?? [];
  if (Array.isArray(parts) && parts.every(isData)) return parts as Part[];
  throw invalidMember('content.parts', 'must be a list of parts', 'E_INVALID_EVENT');
}

/** An event of data that nobody else has. */
export function revive(data: EventData): Event {
  const event = Object.create(Event.prototype) as Event;
  const actions = Object.create(EventActions.prototype) as EventActions;
  Object.assign(actions, NO_ACTIONS, data.actions);
  return freeze(Object.assign(event, data, { actions }));
}

/** What the actions of every event have. */
const NO_ACTIONS = Object.freeze({
  stateDelta: Object.freeze({}),
  artifactDelta: Object.freeze({}),
});

/** An event of the bytes that a store keeps. */
export function reviveBody(body: Uint8Array): Event {
  return revive(decodeValue(body) as EventData);
}

/** A list of ids; what is none stays what it is. */
function listOf(ids: Iterable<string>): readonly string[] {
  return typeof ids === 'object' && Symbol.iterator in Object(ids) ? [...ids] : (ids as never);
}

/** @throws TurncoreError E_INVALID_EVENT unless a value is an object whose members can be read by name */
export function requireEvent(event: unknown): void {
  if (hasNames(event)) return;
  throw invocationError('E_INVALID_EVENT', 'must be an event', { details: { field: '' } });
}

/** An event as it crosses, without its empty members. @throws TurncoreError E_INVALID_EVENT unless it is an object */
export function eventValue(event: EventData<GivenBytes>): Record<string, unknown> {
  requireEvent(event);
  const { actions, longRunningToolIds: ids, ...others } = event;
  const value: Record<string, unknown> = { ...others };
  if (others.content !== undefined) value['content'] = withBytes(others.content);
  if (ids !== undefined) value['longRunningToolIds'] = listOf(ids);
  const given = actionsValue(actions);
  if (given !== undefined) value['actions'] = given;
  return value;
}

/** The members of actions. */
const ACTIONS = [
  'stateDelta',
  'artifactDelta',
  'skipSummarization',
  'transferToAgent',
  'escalate',
  'requestedConfirmations',
  'compaction',
  'rewindBeforeInvocationId',
];

/** An event of the host as it crosses. @throws TurncoreError E_INVALID_EVENT, also for a misspelled name of its actions */
export function givenEvent(event: EventData<GivenBytes>): Record<string, unknown> {
  const value = eventValue(event);
  refuseMisspelled(event.actions);
  return value;
}

/**
 * Members that are not known are kept, but one that is likely misspelled would have no effect.
 *
 * @throws TurncoreError E_INVALID_EVENT for the name of one
 */
export function refuseMisspelled(actions: ActionsData | undefined): void {
  for (const name of Object.keys(actions ?? {})) {
    const meant = ACTIONS.includes(name) ? undefined : suggest(name, ACTIONS);
    if (meant === undefined) continue;
    const why = `is not a member of actions; did you mean ${meant}?`;
    throw invalidMember(`actions.${name}`, why, 'E_INVALID_EVENT');
  }
}

/** Actions as they cross; undefined if there are none. */
export function actionsValue(actions: ActionsData | undefined): object | undefined {
  if (actions === undefined || actions === null) return undefined;
  if (!hasNames(actions)) return actions; // which is refused when it is written, or by the module
  let value: Record<string, unknown> | undefined;
  for (const [name, given] of Object.entries(actions) as [string, unknown][]) {
    if (given === undefined || given === null || given === false || given === '') continue;
    const isNamed = hasNames(given);
    if (isNamed && Object.keys(given).length === 0) continue;
    (value ??= {})[name] = isNamed && name === 'stateDelta' ? deletions(given) : given;
  }
  return value;
}

/** A delta in which undefined deletes, too. */
function deletions(delta: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(delta).map(([name, value]) => [name, value ?? null]));
}

/** Freezes data with all that is in it. Bytes cannot be frozen. */
export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  if (Object.isFrozen(value)) return value;
  for (const name in value) freeze(value[name]);
  return Object.freeze(value);
}

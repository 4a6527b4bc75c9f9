/**
 * Makes events from their JSON.
 */
import { TurncoreError } from '../errors.js';
import { anyCodeInfo } from '../known-codes.js';
import * as E from '../events/events.js';
import { ModelCallEndEvent, ModelCallStartEvent } from '../events/model-call.js';
import type { ErrorJSON } from '../events/error-json.js';
import type { Question } from '../events/turn-gate.js';

/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>;

/** Makes the gate of an event. */
export type MakeGate = (question: Question, turnId: string) => E.TurnGate;

/** What a member must be; `json` for anything, and a question mark for what may be missing. */
type Shape = Readonly<Record<string, 'string' | 'number' | 'boolean' | 'json' | 'list' | 'error'>>;

/** The names of events whose text the stream sends piece by piece. */
type TextName = 'message' | 'thought';

type PlainName = Exclude<E.EventName, TextName | 'turnGateOpen'>;

const span: Shape = { startedAt: 'number', endedAt: 'number', durationMs: 'number' };
const execution: Shape = { toolName: 'string', callId: 'string' };

/** The class of an event, the members that it has, and those that it may have. */
const kinds: Readonly<
  Record<PlainName, readonly [make: new () => E.TurnEvent, has: Shape, may?: Shape]>
> = {
  toolCall: [
    E.ToolCallEvent,
    {
      id: 'string',
      tool: 'string',
      checksum: 'string',
      isComplete: 'boolean',
      isError: 'boolean',
      createdAt: 'number',
      updatedAt: 'number',
    },
    {
      args: 'json',
      executionId: 'string',
      providerCallId: 'string',
      results: 'json',
      completedAt: 'number',
    },
  ],
  turnStart: [E.TurnStartEvent, { startedAt: 'number' }],
  turnEnd: [E.TurnEndEvent, { status: 'string', ...span }, { error: 'error' }],
  dispatchStart: [E.DispatchStartEvent, { startedAt: 'number' }],
  dispatchEnd: [
    E.DispatchEndEvent,
    { status: 'string', iterations: 'number', ...span },
    { error: 'error' },
  ],
  iterationStart: [E.IterationStartEvent, { startedAt: 'number' }],
  iterationEnd: [E.IterationEndEvent, { status: 'string', ...span }, { discarded: 'list' }],
  toolExecutionStart: [
    E.ToolExecutionStartEvent,
    { ...execution, args: 'json', startedAt: 'number' },
    { executionId: 'string', providerCallId: 'string' },
  ],
  toolExecutionEnd: [
    E.ToolExecutionEndEvent,
    { ...execution, isError: 'boolean', ...span },
    { executionId: 'string', providerCallId: 'string' },
  ],
  turnGateClosed: [
    E.TurnGateClosedEvent,
    { gateId: 'string', result: 'string', settledAt: 'number' },
  ],
  log: [E.LogEvent, { level: 'string', kind: 'string', message: 'string' }, { payload: 'json' }],
  warning: [
    E.WarningEvent,
    { source: 'string', kind: 'string', message: 'string' },
    { error: 'error', payload: 'json' },
  ],
  error: [E.ErrorEvent, { error: 'error' }],
  generationStats: [E.GenerationStatsEvent, {}],
  modelCallStart: [
    ModelCallStartEvent,
    { model: 'string', attempt: 'number', startedAt: 'number' },
    { provider: 'string' },
  ],
  modelCallEnd: [
    ModelCallEndEvent,
    { model: 'string', attempt: 'number', status: 'string', ...span },
    {
      provider: 'string',
      httpStatus: 'number',
      firstTokenAt: 'number',
      usage: 'json',
      error: 'error',
    },
  ],
};

const gateShape: Shape = {
  gateId: 'string',
  reason: 'string',
  payload: 'json',
  createdAt: 'number',
  digest: 'string',
};

/** Events that say themselves when they were emitted. */
const emitted: readonly string[] = ['log', 'warning', 'generationStats'];

/** The error for what is not the event stream of a turn. */
export function malformed(why: string): TurncoreError {
  return TurncoreError.of('E_TURN_STREAM_MALFORMED', why);
}

/** Whether a value is a JSON object. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The event of a JSON object, without what all events have in common. Messages and thoughts have a reader of their own.
 *
 * @returns undefined for an event of an unknown name: a later version may have it
 * @throws TurncoreError E_TURN_STREAM_MALFORMED for a member that is missing or has another type
 */
export function eventFromJSON(
  name: string,
  members: Members,
  head: { readonly at: number; readonly turnId: string | undefined },
  gate: MakeGate,
): E.TurnEvent | undefined {
  if (name === 'turnGateOpen') {
    const { gateId: id, ...parts } = shaped(name, members, gateShape);
    return gate({ id, ...parts } as Question, head.turnId ?? '');
  }
  if (!Object.hasOwn(kinds, name)) return undefined;
  const [make, has, may] = kinds[name as PlainName];
  const event = new make();
  const given = name === 'generationStats' ? members : shaped(name, members, has, may);
  for (const [key, value] of Object.entries(given)) {
    if (key !== 'event' && key !== 'toJSON') Object.assign(event, { [key]: value });
  }
  if (emitted.includes(name)) Object.assign(event, { emittedAt: head.at });
  return event;
}

/** An event without members; undefined for an unknown name. Messages, thoughts and gates are not made so. */
export function emptyEvent(name: string): E.TurnEvent | undefined {
  return Object.hasOwn(kinds, name) ? new kinds[name as PlainName][0]() : undefined;
}

/** The members that an event has, checked. */
function shaped(name: string, members: Members, has: Shape, may: Shape = {}): Members {
  const given: Record<string, unknown> = {};
  for (const [key, type] of Object.entries({ ...has, ...may })) {
    const value = members[key];
    if (value === undefined && key in may) continue;
    if (value === undefined || !isOf(type, value)) {
      throw malformed(`\`${key}\` of ${name} must be ${type === 'json' ? 'there' : `a ${type}`}`);
    }
    given[key] = type === 'error' ? errorFromJSON(value) : value;
  }
  return given;
}

function isOf(type: Shape[string], value: unknown): boolean {
  if (type === 'json') return true;
  if (type === 'list') return Array.isArray(value);
  if (type === 'error') return isErrorJSON(value);
  return typeof value === type;
}

/** Whether a value has the form of an error. */
export function isErrorJSON(value: unknown): value is ErrorJSON {
  return (
    isMembers(value) && typeof value['code'] === 'string' && typeof value['message'] === 'string'
  );
}

/** The error of its JSON. Its class is Turncore's for Turncore's codes, and Error with that name for others. */
export function errorFromJSON(json: unknown): Error | undefined {
  if (!isErrorJSON(json)) return undefined;
  const { code, message } = json;
  const cause = errorFromJSON(json.cause);
  const options = cause === undefined ? {} : { cause };
  if (anyCodeInfo(code) !== undefined) return new TurncoreError(code, message, options);
  const error = new Error(message, options);
  error.name = code;
  return error;
}

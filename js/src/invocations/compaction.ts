/**
 * Summing up sessions.
 */
import { Hook } from '../abi/frames.gen.js';
import type { Awaitable } from '../awaitable.js';
import { invocationError } from '../session-errors.js';
import type { Content } from './content.js';
import type { CallbackContext } from './contexts.js';
import { invalidMember, requireKnown } from './names.js';

/**
 * When a runner sums up a session. At the end of an invocation that passes a threshold it stores an event of the author
 * `system`, whose content stands for the events before it in what models see. The events stay. A call that waits for an
 * answer, or has it outside, is shown in full. Each summary takes in the one before.
 *
 * The event is not delivered. An invocation that fails, waits for an answer, or whose caller has left, sums up nothing.
 */
export interface Compaction {
  /** How many invocations without a summary make one due, besides those of `keep`. Default: any number. */
  readonly invocations?: number | undefined;
  /**
   * Makes a summary due once a model was asked with so many tokens. What models say of their usage counts. If they say
   * nothing, 4 bytes are taken for one token. Default: any number.
   */
  readonly tokens?: number | undefined;
  /** How many invocations, which the summary before stands for, the next one is made of in full. Default 0. */
  readonly overlap?: number | undefined;
  /** How many of the latest invocations stay as they are. Default 0. */
  readonly keep?: number | undefined;
  /**
   * Makes a summary. Each part of the content is a text, such as `[user] said: hello`. Default: the model of the first
   * LLM agent makes it.
   */
  readonly summarize?:
    ((ctx: CallbackContext, events: Content) => Awaitable<string | Content>) | undefined;
  /**
   * Is told why there is no summary, or why it was not stored: the error that `summarize`, the executor or the store
   * threw, or a `TurncoreError` with a code. The invocation has ended well. Default: `console.error`.
   */
  readonly onError?: ((ctx: CallbackContext, error: Error) => void) | undefined;
}

/** The members that the module is told of. */
const MEMBERS = ['invocations', 'tokens', 'overlap', 'keep'] as const;

/** A compaction as the module takes it. @throws TurncoreError E_INVALID_AGENT */
export function compactionOption(compaction: Compaction): object {
  const known = [...MEMBERS, 'summarize', 'onError'];
  requireKnown(compaction, 'compaction', known, { prefix: 'compaction.', code: 'E_INVALID_AGENT' });
  for (const name of ['summarize', 'onError'] as const) {
    if (compaction[name] === undefined || typeof compaction[name] === 'function') continue;
    throw invalidMember(`compaction.${name}`, 'must be a function', 'E_INVALID_AGENT');
  }
  const given: [string, number][] = [];
  for (const name of MEMBERS) {
    const value = compaction[name];
    if (value === undefined) continue;
    if (!Number.isInteger(value) || value < 0) {
      throw invocationError('E_INVALID_AGENT', `compaction.${name} must be an integer from 0 on`);
    }
    given.push([name, value]);
  }
  if (!given.some(([name, value]) => value > 0 && (name === 'invocations' || name === 'tokens'))) {
    throw invocationError('E_INVALID_AGENT', 'compaction must have invocations or tokens');
  }
  return Object.fromEntries(given);
}

/** The functions of a compaction, by hook. */
export function compactionHooks({ summarize, onError = report }: Compaction) {
  return [
    [Hook.Summary, summarize],
    [Hook.SummaryError, onError],
  ] as const;
}

function report(_: CallbackContext, error: Error): void {
  console.error(error);
}

/**
 * A turn, for people.
 */
import { messageOf } from '../errors.js';
import type { GenerationStatsEvent, ToolCallEvent, TurnEvent } from '../events/events.js';
import type { TurnResult } from '../runners/turn-stream.js';
import { describe, type Screen } from './screen.js';
import type { TurnView } from './view.js';

/** Shown characters of a tool's arguments or result. */
const LONGEST = 400;
const WAITING = 'waiting for the model';

/** Shows turns to people. */
export class Show implements TurnView {
  readonly #screen: Screen;
  readonly #verbose: boolean;
  /** Number of shown tool calls without a result, by checksum. */
  readonly #begun = new Map<string, number>();
  /** Id of the turn. */
  #turn = '';

  constructor(screen: Screen, verbose: boolean) {
    this.#screen = screen;
    this.#verbose = verbose;
  }

  event(event: TurnEvent): void {
    const screen = this.#screen;
    switch (event.event) {
      case 'turnStart':
        this.#turn = event.turnId ?? '';
        break;
      case 'iterationStart':
        this.#detail(`iteration ${event.iteration ?? 0}`);
        screen.busy(WAITING);
        break;
      case 'thought':
        screen.whisper(event.aDelta);
        if (event.isComplete) screen.busy(WAITING);
        break;
      case 'message':
        screen.print(event.aDelta);
        if (event.isInterrupted === true) screen.aside('(broken off)');
        if (event.isComplete) screen.line();
        break;
      case 'toolExecutionStart':
        this.#begun.set(event.callId, (this.#begun.get(event.callId) ?? 0) + 1);
        screen.note('cyan', `→ ${event.toolName} ${this.#short(event.args)}`);
        screen.busy(`running ${event.toolName}`);
        break;
      case 'toolCall':
        if (event.isComplete) this.#toolCall(event);
        break;
      case 'warning':
        screen.note('yellow', `warning: ${event.message}`);
        break;
      case 'log': {
        const line = `${event.level}: ${event.message}`;
        if (event.level === 'warn' || event.level === 'error') screen.note('dim', line);
        else this.#detail(line);
        break;
      }
      case 'generationStats':
        this.#detail(`model call: ${JSON.stringify(statsOf(event))}`);
        break;
      case 'error':
        this.#detail(`error event: ${describe(event.error)}`);
        break;
      default:
    }
  }

  end(result: TurnResult): void {
    const screen = this.#screen;
    const { status, error, iterations, usage } = result;
    screen.line();
    if (status !== 'ack') {
      if (error === undefined) screen.note('red', `the turn ended with ${status}`);
      else if (status === 'aborted') screen.note('red', messageOf(error));
      else screen.failure(error);
    }
    this.#detail(
      `turn ${this.#turn}: ${status} after ${iterations} iterations, ` +
        `${usage.promptTokens} + ${usage.completionTokens} tokens`,
    );
  }

  /** Shows the result of a tool call, and first the call itself if it was refused before it ran. */
  #toolCall(call: ToolCallEvent): void {
    const screen = this.#screen;
    const begun = this.#begun.get(call.checksum) ?? 0;
    if (begun > 0) this.#begun.set(call.checksum, begun - 1);
    else screen.note('cyan', `→ ${call.tool} ${this.#short(call.args)}`);
    const text = this.#short(call.results ?? '');
    if (call.isError) screen.note('red', `✗ ${text}`);
    else screen.note('cyan', `← ${text}`);
  }

  #detail(text: string): void {
    if (this.#verbose) this.#screen.note('dim', text);
  }

  /** A value in one line, its beginning if it is long. */
  #short(value: unknown): string {
    const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
    if (this.#verbose) return text;
    const line = text.trim().replace(/\s+/g, ' ');
    return line.length <= LONGEST ? line : `${line.slice(0, LONGEST)} …`;
  }
}

/** The statistics of an event, without the common fields of all events. */
function statsOf(event: GenerationStatsEvent): object {
  const head = new Set(['event', 'seq', 'at', 'turnId', 'dispatchId', 'iteration']);
  return Object.fromEntries(Object.entries(event.toJSON()).filter(([key]) => !head.has(key)));
}

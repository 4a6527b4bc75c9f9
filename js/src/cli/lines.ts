/**
 * A turn as JSON lines, for programs.
 */
import { errorJSON } from '../events/error-json.js';
import type { TurnEvent } from '../events/events.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import type { ToolCallResults } from '../primitives/tool-call.js';
import type { Conversation } from '../sessions/conversation.js';
import type { TurnResult } from '../runners/turn-stream.js';
import type { Output } from './screen.js';
import type { TurnView } from './view.js';

/** Writes each event as a line, and the turn's end as the last one. */
export class Lines implements TurnView {
  readonly #out: Output;

  constructor(out: Output) {
    this.#out = out;
  }

  event(event: TurnEvent): void {
    this.#write(event);
  }

  end(result: TurnResult, records: Conversation): void {
    this.#write(endLine(result, records));
  }

  #write(line: object): void {
    this.#out.write(`${JSON.stringify(line)}\n`);
  }
}

/** The last line of an event log. */
export function endLine(result: TurnResult, records: Conversation): object {
  const { status, iterations, error } = result;
  const described = error === undefined ? undefined : errorJSON(error);
  return {
    event: 'end',
    status,
    iterations,
    messages: Array.from(records.messages, ({ role, content }) => ({
      role,
      content: content?.toString() ?? '',
    })),
    thoughts: Array.from(records.thoughts, ({ content }) => content.toString()),
    toolCalls: Array.from(records.toolCalls, ({ tool, args, isError, results }) => ({
      tool,
      args,
      isError,
      results: resultText(results),
    })),
    error: described === undefined ? null : { code: described.code, message: described.message },
  };
}

/** A result as text: its own, or JSON. */
function resultText(results: ToolCallResults): string {
  return results instanceof Tokenizable ? results.toString() : JSON.stringify(results);
}

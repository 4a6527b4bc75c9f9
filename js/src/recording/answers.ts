/**
 * How the tool calls of a recording were answered.
 */
import { isObject } from '../simulated/text.js';
import { sameValue } from './compare.js';
import { type Saying, sayingOf } from './conversation.js';
import { answered, messagesOf, type RecordedCall, type WireMessage } from './messages.js';
import type { Recording } from './recording.js';

/**
 * Gives each tool call the result that a recording holds for it, and says what the recorded client said behind the results.
 */
export class Answers {
  /** By the number of the request that holds them. */
  readonly #calls: RecordedCall[][];
  /** Likewise. */
  readonly #said: Saying[][] = [];

  /** Takes what each request holds beside what the request before it does. */
  constructor({ interactions }: Recording) {
    let before = 0;
    this.#calls = interactions.map((interaction, n) => {
      const messages = messagesOf(interaction);
      let from = n === 0 ? messages.length : before;
      if (n > 0 && messages.length < before) {
        // It was shortened: the last answer with calls is the one.
        from = Math.max(
          messages.findLastIndex(({ calls }) => calls.length > 0),
          0,
        );
      }
      before = messages.length;
      this.#said.push(saidBehind(messages, from));
      const groups = answered(messages.slice(from));
      return groups.flat().filter((call) => call.answered);
    });
  }

  /**
   * What the recorded client has the user say before request n, from 0, behind the results of tools: media that tools
   * returned, say, or what to do better. It is told once.
   */
  said(n: number): Saying[] {
    return this.#said[n]?.splice(0) ?? [];
  }

  /**
   * The result that request n, from 0, holds for a call of the answer before it: of the first call of the tool with equal
   * arguments that was not taken yet, or else of the tool's first one, since clients may write arguments anew.
   *
   * @returns undefined if there is none
   */
  take(n: number, tool: string, args: unknown): string | undefined {
    const calls = this.#calls[n] ?? [];
    for (const equal of [true, false]) {
      const at = calls.findIndex(
        (call) => call.tool === tool && (!equal || sameValue(parse(call.args), args)),
      );
      if (at >= 0) return calls.splice(at, 1)[0]!.result;
    }
    return undefined;
  }
}

/** The messages of the user that stand at the end, behind results of tools that are not before from. */
function saidBehind(messages: readonly WireMessage[], from: number): Saying[] {
  const at = messages.findLastIndex(({ role }) => role !== 'user') + 1;
  if (at <= from || messages[at - 1]!.role !== 'tool') return [];
  return messages.slice(at).flatMap((message, i) => sayingOf(message, at + i) ?? []);
}

/** Bounds the names of tools. */
const MAX_CALLED = 128;

/**
 * The names of the tools that the conversation's answers call, in order, each once. Among them may be names of something
 * else.
 */
export function calledTools({ interactions }: Recording): string[] {
  const sent = interactions.flatMap(messagesOf).flatMap(({ calls }) => calls);
  const found = interactions.flatMap(({ response }) => [
    ...response.body.matchAll(/"name" ?: ?"([^"\\]{1,128})"/g),
  ]);
  const names = [...sent.map(({ tool }) => tool), ...found.map(([, name]) => name!)];
  return [...new Set(names.filter((name) => name !== ''))].slice(0, MAX_CALLED);
}

/** JSON text as data; a text that is no JSON stands for itself. */
function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
}

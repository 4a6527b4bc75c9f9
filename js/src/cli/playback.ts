/**
 * Plays a recorded conversation: what a run needs so that it goes as it did then.
 */
import type { DispatchPipelineMiddlewareFn } from '../context/functions.js';
import { seededEntropy } from '../entropy.js';
import type { Delta } from '../pump/deltas.js';
import { Answers, calledTools } from '../recording/answers.js';
import { goOn, historyOf, toolsOf, userMessageOf } from '../recording/beginning.js';
import { describeDifference } from '../recording/compare.js';
import { type Conversation, conversationOf } from '../recording/conversation.js';
import { cutResponse } from '../recording/cut.js';
import { chatOptionsOf } from '../recording/options.js';
import { inRecording, loadRecording, type Recording } from '../recording/recording.js';
import { RecordingServer } from '../recording/server.js';
import { threadOf } from '../recording/thread.js';
import type { Message } from '../primitives/message.js';
import type { TurnResult } from '../turns/turn-stream.js';
import type { RunOptions } from './command-line.js';
import { serveLoopback } from './loopback.js';
import type { Provider } from './provider.js';
import { codeOf, type Screen } from './screen.js';

/** A recorded conversation that is played: it is the provider, and it answers the tool calls. */
export class Playback {
  readonly provider: Provider;
  /** Tools that may be called, but were not offered. */
  readonly hidden: readonly string[];
  /** The turn of its first conversation. */
  readonly #recording: Recording;
  /** How many requests of the recording are not of it. */
  readonly #others: number;
  readonly #conversation: Conversation;
  readonly #server: RecordingServer;
  readonly #answers: Answers;
  /** A tool was called that the recording has no answer for. */
  #over = false;

  /**
   * Reads a recording and serves its responses.
   *
   * @param seed decides in which parts responses come
   * @throws Error (rejects) when the file cannot be read or is no recording
   */
  static async open(file: string, seed: number): Promise<Playback> {
    const whole = await loadRecording(file);
    const { recording, conversation } = beginningOf(whole, file);
    const server = new RecordingServer(recording, seed);
    const { fetch, close } = await serveLoopback(server.handler);
    const random = seededEntropy(seed);
    const provider = {
      chat: chatOptionsOf(conversation, recording),
      fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> =>
        cutResponse(await fetch(input, init), random),
      close,
    };
    const others = whole.interactions.length - recording.interactions.length;
    try {
      return new Playback(recording, others, conversation, server, provider);
    } catch (error) {
      close();
      throw error;
    }
  }

  private constructor(
    recording: Recording,
    others: number,
    conversation: Conversation,
    server: RecordingServer,
    provider: Pick<Provider, 'chat' | 'fetch' | 'close'>,
  ) {
    this.#recording = recording;
    this.#others = others;
    this.#conversation = conversation;
    this.#server = server;
    this.#answers = new Answers(recording);
    const { tools, hidden } = toolsOf(conversation, calledTools(recording), (name, args) => {
      const answer = this.#answers.take(this.#server.requests, name, args);
      this.#over ||= answer === undefined;
      return answer ?? '';
    });
    this.hidden = hidden;
    this.provider = { ...provider, tools, credentials: {} };
  }

  /** The system prompt, which may be empty. */
  get system(): string {
    return this.#conversation.system;
  }

  /** What the user says; undefined where all is history. */
  user(now: number): string | Message | undefined {
    return userMessageOf(this.#conversation, now);
  }

  /** What was said before, a millisecond apart and ending at now. */
  history(now: number): Delta[] {
    return historyOf(this.#conversation, now);
  }

  /**
   * Ends the turn after the iteration in which the recording ended. Otherwise the user says what the recorded client goes on
   * with.
   *
   * @param clock tells the time
   */
  afterIteration(clock: () => number): DispatchPipelineMiddlewareFn {
    return async (ctx, next) => {
      const n = this.#server.requests;
      const over = this.#over || n >= this.#recording.interactions.length;
      if (!ctx.isSignalled) {
        if (over) ctx.ack();
        else await goOn(ctx, this.#answers.said(n), clock());
      }
      await next();
    };
  }

  /**
   * Tells how the turn's requests differ from the recorded ones.
   *
   * @returns false when there is a difference that is not allowed, or when the turn came to no end of its own
   */
  report(result: TurnResult, screen: Screen, { json, verbose }: RunOptions): boolean {
    const differences = this.#server.differences;
    const sent = this.#server.requests;
    const recorded = this.#recording.interactions.length;
    const refused = differences.filter(({ why }) => why === '');
    for (const difference of verbose ? differences : refused) {
      screen.note(difference.why === '' ? 'red' : 'dim', describeDifference(difference));
    }
    if (sent < recorded) screen.note('red', `${sent} requests were sent, ${recorded} are recorded`);
    if (!json) {
      const allowed = differences.length - refused.length;
      const { status, iterations, error } = result;
      const code = error === undefined ? '' : ` (${codeOf(error)})`;
      screen.note(
        'dim',
        `${this.#recording.name}: ${sent} of ${recorded} requests sent` +
          (allowed > 0 ? `, ${allowed} differences are allowed` : '') +
          (this.#others > 0 ? `, ${this.#others} outside of this turn` : '') +
          `; the turn ended with ${status} after ${iterations} iterations${code}`,
      );
    }
    // A nack is how a conversation ends whose recording ends with the provider's error.
    const ended = result.status === 'ack' || result.status === 'nack';
    return ended && refused.length === 0 && sent >= recorded;
  }
}

/** The turn that is played, and how it begins. @throws Error that names the file */
function beginningOf(
  whole: Recording,
  file: string,
): { recording: Recording; conversation: Conversation } {
  try {
    const recording = threadOf(whole);
    return { recording, conversation: conversationOf(recording) };
  } catch (error) {
    throw inRecording(file, error as Error);
  }
}

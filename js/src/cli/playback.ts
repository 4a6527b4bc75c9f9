/**
 * Plays a recorded conversation: what a run needs so that it goes as it did then.
 */
import type { DispatchPipelineMiddlewareFn } from '../context/functions.js';
import { seededEntropy } from '../entropy.js';
import type { Delta } from '../pump/deltas.js';
import { chatOptionsOf, historyOf } from '../recording/beginning.js';
import { describeDifference } from '../recording/compare.js';
import {
  Answers,
  type Conversation,
  conversationOf,
  type RecordedTool,
} from '../recording/conversation.js';
import { cutResponse } from '../recording/cut.js';
import { loadRecording, type Recording } from '../recording/recording.js';
import { RecordingServer } from '../recording/server.js';
import { type AnyTool, type ObjectSchema, Tool } from '../tools/tool.js';
import type { TurnResult } from '../turns/turn-stream.js';
import type { RunOptions } from './command-line.js';
import { serveLoopback } from './loopback.js';
import type { Provider } from './provider.js';
import { codeOf, type Screen } from './screen.js';

/** A recorded conversation that is played: it is the provider, and it answers the tool calls. */
export class Playback {
  readonly provider: Provider;
  readonly #recording: Recording;
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
    const recording = await loadRecording(file);
    const server = new RecordingServer(recording, seed);
    const conversation = conversationOf(recording);
    const { fetch, close } = await serveLoopback(server.handler);
    const random = seededEntropy(seed);
    const provider = {
      chat: chatOptionsOf(conversation),
      fetch: async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> =>
        cutResponse(await fetch(input, init), random),
      close,
    };
    return new Playback(recording, conversation, server, provider);
  }

  private constructor(
    recording: Recording,
    conversation: Conversation,
    server: RecordingServer,
    provider: Pick<Provider, 'chat' | 'fetch' | 'close'>,
  ) {
    this.#recording = recording;
    this.#conversation = conversation;
    this.#server = server;
    this.#answers = new Answers(recording);
    const tools = conversation.tools.map((tool) => this.#tool(tool));
    this.provider = { ...provider, tools, credentials: {} };
  }

  /** The system prompt, which may be empty. */
  get system(): string {
    return this.#conversation.system;
  }

  /** What the user says. */
  get user(): string {
    return this.#conversation.user;
  }

  /** What was said before, a millisecond apart and ending at now. */
  history(now: number): Delta[] {
    return historyOf(this.#conversation, now);
  }

  /** Ends the turn after the iteration in which the recording ended. */
  readonly ackWhenOver: DispatchPipelineMiddlewareFn = (ctx, next) => {
    if (this.#over && !ctx.isSignalled) ctx.ack();
    return next();
  };

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
          `; the turn ended with ${status} after ${iterations} iterations${code}`,
      );
    }
    // A nack is how a conversation ends whose recording ends with the provider's error.
    const ended = result.status === 'ack' || result.status === 'nack';
    return ended && refused.length === 0 && sent >= recorded;
  }

  #tool({ name, description, parameters }: RecordedTool): AnyTool {
    return new Tool({
      name,
      // A tool must have one.
      description: description === '' ? name : description,
      inputSchema: (parameters ?? { type: 'object' }) as ObjectSchema,
      handler: (args) => {
        const answer = this.#answers.take(name, args);
        this.#over ||= answer === undefined;
        return answer ?? '';
      },
    });
  }
}

/**
 * A conversation on the command line.
 */
import type { Module } from '../instance/module.js';
import { fixedClock, seededEntropy, systemClock } from '../entropy.js';
import { type AgentRunner, createRunner } from '../front/create-runner.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import { memoryStore } from '../store/memory-store.js';
import type { Store } from '../store/store.js';
import type { DatabaseStore } from '../stores/table-store.js';
import type { TurnResult } from '../runners/turn-stream.js';
import type { RunOptions } from './command-line.js';
import { openDatabase } from './database.js';
import { Interrupt } from './interrupt.js';
import { JournalFile } from './journal-file.js';
import { Lines } from './lines.js';
import { moduleOf } from './module.js';
import { type Provider, providerOf } from './provider.js';
import type { Screen } from './screen.js';
import { Show } from './show.js';
import type { TurnView } from './view.js';

/** The default system prompt. */
const DEFAULT_SYSTEM = 'You are a helpful assistant.';
/** The session of the turns where nothing else is given. */
const SESSION = 'default';

/** Runs turns of one conversation. */
export class Session {
  readonly #options: RunOptions;
  readonly #screen: Screen;
  readonly #database: DatabaseStore | undefined;
  readonly #store: Store;
  readonly #runner: AgentRunner;
  readonly #journal: { file: JournalFile | undefined } = { file: undefined };

  private constructor(
    options: RunOptions,
    screen: Screen,
    module: Module,
    provider: Provider,
    database: DatabaseStore | undefined,
  ) {
    this.#options = options;
    this.#screen = screen;
    this.#database = database;
    this.#store = database ?? memoryStore();
    const { seed } = options;
    const clock = clockOf(options);
    this.#runner = createRunner({
      model: provider.chat,
      tools: provider.tools,
      store: this.#store,
      bounds: { maxIterations: options.maxIterations },
      host: {
        module,
        clock,
        entropy: seed === undefined ? undefined : seededEntropy(seed),
        credentials: provider.credentials,
        fetch: provider.fetch,
        journal: options.log === undefined ? undefined : () => this.#journal.file,
      },
    });
  }

  /** Opens a session with the model in the options. */
  static async open(options: RunOptions, screen: Screen): Promise<Session> {
    const { verbose } = options;
    const provider = providerOf(options, clockOf(options));
    if (options.provider === undefined) {
      screen.notice('the model is simulated; --provider, --base-url or --model choose a real one');
    }
    const module = await moduleOf(options.module);
    if (verbose) {
      const { model, baseURL } = provider.chat;
      screen.note(
        'dim',
        `engine node, module ${await module.hash()}, model ${model} at ${baseURL}`,
      );
    }
    const { store } = options;
    const database = store === undefined ? undefined : await openDatabase('run', store);
    return new Session(options, screen, module, provider, database);
  }

  /** Closes the database. */
  async close(): Promise<void> {
    await this.#database?.close();
  }

  get #name(): string {
    return this.#options.session ?? SESSION;
  }

  /**
   * Runs a turn and shows it.
   *
   * @returns whether it acked
   * @throws TurncoreError (rejects) if it could not start
   */
  async turn(prompt: string): Promise<boolean> {
    const { json, verbose, log } = this.#options;
    const view = json ? new Lines(process.stdout) : new Show(this.#screen, verbose);
    const journal = log === undefined ? undefined : new JournalFile(log);
    this.#journal.file = journal;
    const interrupt = new Interrupt();
    let broken = false;
    const brokenPipe = (error: Error): void => {
      broken = true; // which is told as the program ends
      interrupt.controller.abort(error);
    };
    process.stdout.once('error', brokenPipe);
    try {
      const result = await this.#run(prompt, view, interrupt.controller);
      if (broken) return false;
      view.end(result, await this.#store.load(this.#name));
      return result.status === 'ack';
    } finally {
      process.stdout.off('error', brokenPipe);
      interrupt.close();
      journal?.close();
    }
  }

  async #run(prompt: string, view: TurnView, controller: AbortController): Promise<TurnResult> {
    const stream = this.#runner.stream({
      message: prompt,
      sessionId: this.#name,
      systemPrompt: new Tokenizable(this.#options.system ?? DEFAULT_SYSTEM),
      turnAbortController: controller,
    });
    let begun = false;
    try {
      for await (const event of stream) {
        begun = true;
        view.event(event);
      }
    } catch (error) {
      // The view shows the failure of a turn at its end.
      if (!begun || error !== (await stream.result).error) throw error;
    }
    const result = await stream.result;
    if (result.status !== 'aborted' || result.error !== undefined) return result;
    return Object.assign(result, { error: controller.signal.reason as unknown });
  }
}

function clockOf(options: RunOptions): () => number {
  return options.fixedClock ? fixedClock() : systemClock;
}

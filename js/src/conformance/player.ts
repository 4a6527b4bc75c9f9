/**
 * Plays scenarios.
 */
import {
  type Delta,
  type DispatchInput,
  DispatchRunner,
  Host,
  type HostOptions,
  isTurncoreError,
  maxIterations,
  type Store,
  Tokenizable,
  TurncoreError,
  type TurnEvent,
  type TurnInput,
  TurnRunner,
  type TurnRunnerConfig,
} from '../index.js';
import { EventKind } from '../abi/frames.gen.js';
import type { ObservabilityEvents } from '../entries/events.js';
import type { Entry as AnyEntry } from '../entries/records.js';
import { type Entropy, FIXED_INSTANT, seededEntropy } from '../entries/host.js';
import { MemoryJournal } from '../entries/replay.js';
import { type AnyContext } from '../entries/runners.js';
import { type AnyTool } from '../entries/tools.js';
import { builtin } from './builtin.js';
import { catalogueTool } from './catalogue.js';
import { chatExecutor } from './chat.js';
import { enter, Frame } from './frame.js';
import { Kept } from './kept.js';
import type { Line, Log } from './line.js';
import { credentials, Network } from './network.js';
import { hostMade, operations } from './operations.js';
import { artifact, newMedia, shown } from './part.js';
import { described, newRecord } from './records.js';
import {
  type Entry,
  type Fields,
  fields,
  list,
  Malformed,
  only,
  type RunnerSpec,
  type Scenario,
  type Script,
  str,
} from './scenario.js';
import type { Stage } from './stage.js';
import { kindOf, storage } from './storage.js';
import { fill, textSpec, tokenizers } from './texts.js';
import { makeTool } from './tools.js';
import { type CallWrapper, modelWrappers, toolWrappers } from './wrap.js';

/** What scenarios may need that this host has with the full module. With the core module it is the first only. */
export const features: readonly string[] = ['dynamic', 'full'];

/** What scenarios are played on. */
export interface PlayerOptions {
  /** The host's options; its clock and entropy are the player's. */
  readonly host?: HostOptions | undefined;
  /**
   * Keeps what storage callbacks get, in a session for each scenario. `play` fails if it has anything else in the end
   * than a store in memory. Default: none.
   */
  readonly store?: Store | undefined;
  /**
   * Whether functions answer a moment later although nothing keeps them. Otherwise a script that does nothing that
   * takes time answers, and throws, at once.
   */
  readonly patient?: boolean | undefined;
}

const functional = ['message', 'thought', 'toolCall'] as const;
const observable = Object.keys(EventKind)
  .filter((kind) => !kind.endsWith('Interrupted'))
  .map((kind) => kind.charAt(0).toLowerCase() + kind.slice(1))
  .filter((name): name is keyof ObservabilityEvents => !functional.some((n) => n === name));

/** Names of the dispatch pipelines, and their older ones. */
const names = ['dispatchInputPipeline', 'dispatchOutputPipeline'] as const;
const olderNames = ['llmInputMiddleware', 'llmOutputMiddleware'] as const;

/**
 * Plays scenarios, one after the other, on one instance unless they ask for one of their own. The clock stands still at
 * FIXED_INSTANT unless a script moves it, and entropy is that of `seededEntropy(1)`, afresh for each scenario.
 */
export class Player {
  readonly #options: PlayerOptions;
  readonly #host: Host;
  readonly #module: HostOptions['module'];
  readonly #patient: boolean;
  readonly #clock = { offset: 0 };
  #entropy: Entropy = seededEntropy(1);
  #game: Game | undefined;
  #commits = 0;
  #network: Network | undefined;

  constructor(options: PlayerOptions = {}) {
    this.#options = options;
    this.#patient = options.patient === true;
    this.#module = options.host?.module;
    this.#host = new Host({
      verify: true,
      ...options.host,
      clock: () => FIXED_INSTANT + this.#clock.offset,
      entropy: (size) => this.#entropy(size),
      fetch: (url, init) => this.#network!.fetch(url as URL, init!),
      credentials,
      journal: (turnId) => this.#game?.journal ?? options.host?.journal?.(turnId),
    });
  }

  /** How many commits the store has kept. */
  get commits(): number {
    return this.#commits;
  }

  /**
   * Plays a scenario and returns what was written to its log.
   *
   * @throws Malformed (rejects) when the scenario makes no sense
   */
  async play(scenario: Scenario): Promise<Log> {
    const { host, ...bounded } = scenario;
    if (host !== undefined) {
      const options = { ...this.#options, host: { ...this.#options.host, ...host } };
      const apart = new Player(options);
      const log = await apart.play(bounded);
      this.#commits += apart.commits;
      return log;
    }
    this.#entropy = seededEntropy(1);
    this.#clock.offset = 0;
    const game = new Game(scenario, this.#host, this.#patient, this.#clock, this.#module);
    this.#game = game;
    this.#network = new Network(game, scenario.network ?? []);
    const { store } = this.#options;
    if (store !== undefined) game.kept = new Kept(store, scenario.id);
    await new Frame(game, operations, 'main').do(scenario.main ?? [{ run: {} }]);
    if (game.broken !== undefined) throw game.broken;
    this.#commits += (await game.kept?.check()) ?? 0;
    return game.lines;
  }
}

/** A scenario that is played. */
class Game implements Stage {
  readonly lines: Line[] = [];
  readonly values = new Map<string, unknown>();
  /** What turns run in. */
  readonly module: HostOptions['module'];
  /** Where the journal of turns goes; nowhere unless a scenario asks for one. */
  journal: MemoryJournal | undefined;
  /** What the player's store keeps. */
  kept: Kept | undefined;
  /** Why the scenario makes no sense, when that showed inside a turn. */
  broken: Malformed | undefined;
  readonly #scenario: Scenario;
  readonly #host: Host;
  readonly #patient: boolean;
  readonly #clock: { offset: number };
  readonly #errors = new Map<string, unknown>();
  readonly #records = new Map<string, AnyEntry>();
  readonly #tools = new Map<string, AnyTool>();
  readonly #texts = new Map<string, Tokenizable>();
  readonly #calls = new Map<string, number>();
  #runner: TurnRunner | undefined;
  /** Of the scenario; the log shows calls while there are any. */
  #modelCallListeners = 0;
  readonly #modelCall = (event: TurnEvent): void => this.#event(event);

  constructor(
    scenario: Scenario,
    host: Host,
    patient: boolean,
    clock: { offset: number },
    module: HostOptions['module'],
  ) {
    this.#clock = clock;
    this.module = module;
    this.#scenario = scenario;
    this.#host = host;
    this.#patient = patient;
    this.#errors.set('CANCELED', new DOMException('The operation was aborted.', 'AbortError'));
  }

  write(line: Line): void {
    this.lines.push(JSON.parse(JSON.stringify(line)) as Line);
  }

  describe(error: unknown, depth = 0): Record<string, unknown> {
    for (const [name, own] of this.#errors) {
      if (own !== error) continue;
      const { deletedIds } = Object(own) as { deletedIds?: unknown };
      return deletedIds === undefined ? { is: name } : { is: name, deletedIds };
    }
    if (!isTurncoreError(error)) {
      const cause = error instanceof Error ? error.cause : undefined;
      const inner = cause === undefined || depth >= 8 ? {} : this.describe(cause, depth + 1);
      const { name } = Object(error) as { name?: unknown };
      const code = name === 'WrapperError' ? name : 'Error';
      return 'is' in inner ? { code, cause: inner } : { code };
    }
    const { code, message, status, fatal, cause, suppressed } = error;
    const line: Record<string, unknown> = { code, message, status };
    if (fatal) line['fatal'] = true;
    if (cause !== undefined && depth < 8) {
      const inner = this.describe(cause, depth + 1);
      line['cause'] = inner;
      // A plain error's wording, and how a listener's panic is told, are each language's own.
      const plain = inner['code'] === 'Error' && !('cause' in inner);
      if (plain || code === 'E_LISTENER_ERROR') delete line['message'];
    }
    if (suppressed.length > 0) {
      line['suppressed'] = suppressed.map((item) => this.describe(item, depth + 1));
    }
    return line;
  }

  error(name: string): unknown {
    if (!this.#errors.has(name)) {
      const { message, code, cause, value } = this.#scenario.errors?.[name] ?? {};
      const options = cause === undefined ? {} : { cause: this.error(cause) };
      const error =
        value !== undefined
          ? value
          : code === undefined
            ? new Error(message ?? name, options)
            : new TurncoreError(code, message ?? name, { status: 500, ...options });
      this.#errors.set(name, error);
    }
    return this.#errors.get(name);
  }

  keep(deltas: readonly Delta[]): void {
    this.kept?.add(deltas);
  }

  advance(ms: number): void {
    this.#clock.offset += ms;
  }

  record(spec: unknown): AnyEntry {
    if (typeof spec !== 'string') return newRecord(this, spec);
    let record = this.#records.get(spec);
    if (record === undefined) {
      record = newRecord(this, this.#scenario.records?.[spec]);
      this.#records.set(spec, record);
    }
    return record;
  }

  tool(name: string): AnyTool {
    let tool = this.#tools.get(name);
    if (tool === undefined) {
      const spec = this.#scenario.tools?.[name];
      if (spec === undefined) throw new Malformed(`there is no tool ${name}`);
      const { catalogue, options } = spec;
      tool =
        catalogue === undefined ? makeTool(this, name, spec) : catalogueTool(catalogue, options);
      this.#tools.set(name, tool);
    }
    return tool;
  }

  text(name: string): Tokenizable {
    let text = this.#texts.get(name);
    if (text === undefined) {
      text = new Tokenizable('');
      fill(this, text, name, textSpec(this.#scenario.texts, name));
      this.#texts.set(name, text);
    }
    return text;
  }

  call(by: string, ctx: AnyContext | undefined, script: Script, args?: unknown): unknown {
    return this.#call(by, ctx, script, { args });
  }

  callNow(by: string, ctx: AnyContext | undefined, script: Script): unknown {
    return this.#call(by, ctx, script, {}, false);
  }

  count(by: string): number {
    const call = this.#calls.get(by) ?? 0;
    this.#calls.set(by, call + 1);
    return call;
  }

  called(name: string, ctx: AnyContext, line: Line, args: readonly unknown[]): unknown {
    this.write({
      ...line,
      storage: name,
      of: kindOf(ctx),
      ...(args.length === 0 ? {} : { args }),
    });
    const fails = this.count('any storage call') + 1 === this.#scenario.fails;
    const script = fails ? [{ throw: 'X' }] : (this.#storage[name] ?? []);
    return this.#call(`storage ${name}`, ctx, script, {});
  }

  /** Scripts of the storage that was made last. */
  #storage: Readonly<Record<string, Script>> = {};

  runner(): TurnRunner {
    if (this.#runner !== undefined) return this.#runner;
    const spec = this.#scenario.runner;
    if (spec === undefined) throw new Malformed('the scenario has no runner');
    this.#storage = spec.storage ?? {};
    const [input, output] = spec.olderNames === true ? olderNames : names;
    const config: Record<string, unknown> = {
      ...storage(this, spec, 'Callback'),
      executorCallback: this.#executor('executor', spec.executor ?? [], spec.chat),
      tools: (spec.tools ?? []).map((name) => this.tool(name)),
      tokenizers: tokenizers(this, spec.tokenizers),
      turnInputPipeline: this.#pipeline('turnInput', spec.turnInput),
      turnOutputPipeline: this.#pipeline('turnOutput', spec.turnOutput),
      ...this.#wrappers('', spec),
      ...this.#dispatchPipelines('', spec, input, output),
      host: this.#host,
      ...spec.raw,
    };
    if (spec.omit?.includes('executor') === true) delete config['executorCallback'];
    const runner = new TurnRunner(config as unknown as TurnRunnerConfig);
    for (const name of functional) runner.on(name, (event) => this.#event(event));
    for (const name of observable) {
      // A listener of errors gets the event after the error.
      runner.observe(name, (told: unknown, event = told) => this.#event(event as TurnEvent));
    }
    this.#runner = runner;
    return runner;
  }

  logModelCalls(listeners: 1 | -1): void {
    const before = this.#modelCallListeners;
    this.#modelCallListeners += listeners;
    const runner = this.runner();
    for (const name of hostMade) {
      if (before === 0) runner.observe(name, this.#modelCall);
      else if (this.#modelCallListeners === 0) runner.unobserve(name, this.#modelCall);
    }
  }

  async run(arg: unknown): Promise<void> {
    const line: Record<string, unknown> = { by: 'main', did: 'run' };
    try {
      const { aborted, journal, ...given } = arg as Fields;
      this.journal = journal === true ? new MemoryJournal() : undefined;
      if (journal === true) this.values.set('journal', this.journal);
      const controller = new AbortController();
      this.values.set('abort', controller);
      if (aborted === true) controller.abort();
      const { message } = given;
      const input: Record<string, unknown> = {
        systemPrompt: 'Be brief.',
        turnAbortController: controller,
        ...given,
      };
      if (typeof message === 'object') input['message'] = this.record(message);
      await this.runner().run(input as unknown as TurnInput);
    } catch (error) {
      if (error instanceof Malformed) throw error;
      line['threw'] = this.describe(error);
    }
    this.write(line);
  }

  async dispatch(from: { readonly inTurn: AnyContext }, arg: unknown): Promise<unknown> {
    const known = ['name', 'runner', 'source', 'raw', 'observe', 'on'];
    const { name, runner, source, raw, observe, on } = fields(arg, ...known);
    const prefix = str(name, 'dispatch');
    const spec = (runner ?? {}) as RunnerSpec;
    const input: Record<string, unknown> = {
      ...this.#dispatchPipelines(`${prefix} `, spec, 'turnInputPipeline', 'turnOutputPipeline'),
      ...this.#wrappers(`${prefix} `, spec),
    };
    if (spec.executor !== undefined || spec.chat !== undefined) {
      input['executor'] = this.#executor(`${prefix} executor`, spec.executor ?? [], spec.chat);
    }
    if (source === true) input['source'] = from.inTurn;
    if (raw !== undefined) {
      input['raw'] = this.#raw(spec, raw as Fields);
      input['host'] = this.#host;
    }
    if (observe === true) {
      const to = source === true ? prefix : undefined;
      const handler = (told: unknown, event = told): void => this.#event(event as TurnEvent, to);
      input['hooks'] = Object.fromEntries(functional.map((event) => [event, handler]));
      input['observers'] = Object.fromEntries(
        observable.filter((event) => !event.startsWith('turn')).map((event) => [event, handler]),
      );
    }
    for (const [event, script] of Object.entries((on ?? {}) as Record<string, Script>)) {
      const of = (functional as readonly string[]).includes(event) ? 'hooks' : 'observers';
      const handlers = (input[of] ??= {}) as Record<string, unknown>;
      const handler = (): unknown => this.callNow(`${prefix} on ${event}`, undefined, script);
      handlers[event] = [handlers[event] ?? [], handler].flat();
    }
    Object.assign(input, spec.raw);
    const got = await DispatchRunner.dispatch(input as unknown as DispatchInput);
    return { status: got.status, iterations: got.iterations };
  }

  make(arg: unknown): unknown {
    if ('artifact' in (arg as object)) return shown(artifact(this, arg));
    const [kind, value] = only(arg);
    if (kind === 'media') {
      const { kind: sort, mimeType, filename, trustTier, modalityHazard } = newMedia(this, value);
      return { kind: sort, mimeType, filename, trustTier, modalityHazard };
    }
    if (kind !== 'tool') return described(newRecord(this, arg));
    const tool = this.tool(str(value));
    const { name, ephemeral, trusted, onCollision, meta } = tool;
    return { name, ephemeral, trusted, onCollision, meta: meta.all() };
  }

  #raw(spec: RunnerSpec, arg: Fields): Record<string, unknown> {
    this.#storage = spec.storage ?? {};
    const controller = new AbortController();
    this.values.set('abort', controller);
    const raw: Record<string, unknown> = {
      ...storage(this, spec, ''),
      systemPrompt: 'Be brief.',
      tools: (spec.tools ?? []).map((name) => this.tool(name)),
      tokenizers: tokenizers(this, spec.tokenizers),
      turnAbortController: controller,
      ...arg,
    };
    if (arg['waitFor'] !== undefined) {
      raw['waitFor'] = () => this.call('waitFor', undefined, list(arg['waitFor']) as Script);
    }
    for (const kind of ['memories', 'messages', 'thoughts', 'retrievables', 'toolCalls']) {
      if (raw[kind] !== undefined) raw[kind] = list(raw[kind]).map((item) => this.record(item));
    }
    return raw;
  }

  #dispatchPipelines(
    prefix: string,
    spec: RunnerSpec,
    input: string,
    output: string,
  ): Record<string, unknown> {
    const bound = spec.maxIterations === undefined ? [] : [maxIterations(spec.maxIterations)];
    return {
      [input]: [...bound, ...this.#pipeline(`${prefix}dispatchInput`, spec.dispatchInput)],
      [output]: this.#pipeline(`${prefix}dispatchOutput`, spec.dispatchOutput),
    };
  }

  #wrappers(prefix: string, spec: RunnerSpec): Record<string, unknown> {
    const call: CallWrapper = (by, ctx, script, more) => this.#call(by, ctx, script, more);
    return {
      wrapTool: toolWrappers(call, `${prefix}wrapTool`, spec.wrapTool),
      wrapModel: modelWrappers(call, `${prefix}wrapModel`, spec.wrapModel),
    };
  }

  #pipeline(by: string, entries: readonly Entry[] = []): unknown[] {
    return entries.map((entry, i) => {
      if (entry === null) return null;
      if (!Array.isArray(entry)) return builtin(entry);
      const script = entry as Script;
      return (ctx: AnyContext, next: () => Promise<void>) =>
        this.#call(`${by} ${i}`, ctx, script, { next });
    });
  }

  #executor(by: string, script: Script, chat: Fields | undefined): unknown {
    if (chat !== undefined) return chatExecutor(this, chat);
    return (ctx: AnyContext, helpers: unknown) => this.#call(by, ctx, script, { helpers });
  }

  #call(
    by: string,
    ctx: AnyContext | undefined,
    script: Script,
    more: Partial<Frame> | Fields,
    patient = this.#patient,
  ): unknown {
    const frame = Object.assign(new Frame(this, operations, by), more);
    enter(frame, ctx);
    frame.call = this.count(by);
    const run = (): unknown => {
      try {
        return this.#watch(frame.run(script));
      } catch (error) {
        throw this.#noted(error);
      }
    };
    return patient ? Promise.resolve().then(run) : run();
  }

  /** Remembers that a scenario makes no sense, which turns an error inside a turn. */
  #watch(result: unknown): unknown {
    if (!(result instanceof Promise)) return result;
    return result.catch((error: unknown) => {
      throw this.#noted(error);
    });
  }

  #noted(error: unknown): unknown {
    if (error instanceof Malformed) this.broken ??= error;
    return error;
  }

  #event(event: TurnEvent, to?: string): void {
    if (event.event === 'turnGateOpen') this.values.set(`gate ${event.id}`, event);
    const line = event.toJSON();
    const { error } = event as { error?: unknown };
    if (error !== undefined) line['error'] = this.describe(error);
    if (to !== undefined) line['to'] = to;
    this.write(line);
  }
}

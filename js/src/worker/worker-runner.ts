/**
 * Runs turns in a worker.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import { invalidValue, messageOf, TurncoreError } from '../errors.js';
import { ofOtherCopy } from '../other-copy.js';
import type { Settlement } from '../events/turn-gate.js';
import type { Media } from '../primitives/media.js';
import { RemoteRunner, type RemoteTurn, type TurnPlace } from '../remote/remote-runner.js';
import type { TurnEnd } from '../sse/turn-end.js';
import { check } from '../validation/rules.js';
import { requireChannel, type WorkerChannel } from './channel.js';
import type { Cloneable } from './cloneable.js';
import { Connection } from './connection.js';
import { type AnyPageTool, PageTool } from './page-tool.js';
import type { AgentForm } from './protocol.js';
import { requireTimeout } from './watch.js';

/** The input of a turn that runs in a worker: what crosses to it. */
export interface WorkerInput {
  /** The user's message. */
  readonly message?: string | undefined;
  /** What is attached to it. The page reads the bytes, which are then given to the worker; the reader stays in the page. */
  readonly attachments?: readonly Media[] | undefined;
  /** Default: that of the runner in the worker. */
  readonly systemPrompt?: string | undefined;
  /** Instructions to the model in addition to it. */
  readonly standingInstructions?: readonly string[] | undefined;
  /** Its conversation. Default: "default". */
  readonly sessionId?: string | undefined;
  /** Initial values of the turn's stash. */
  readonly stash?: Readonly<Record<string, Cloneable>> | undefined;
  /** The turn's id. Starting a turn whose id is already running attaches to the running turn. Default: a UUID. */
  readonly turnId?: string | undefined;
  /** Aborts the turn. It stays in the page. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of {@link createWorkerRunner}. */
export interface WorkerRunnerOptions {
  /** Tools whose handlers run in the page. The worker's `serveRunner` needs a function that takes them. */
  readonly tools?: readonly AnyPageTool[] | undefined;
  /**
   * How long the worker's thread may not answer while a turn runs or the runner is made, in milliseconds: a step of its
   * module, or a handler of its own, that takes longer ends the worker. Its turns fail with E_WORKER_ENDED, whose cause
   * is a {@link WorkerTimeoutError}. It takes up to a third longer until that is noticed. Default: no limit.
   */
  readonly stepTimeout?: number | undefined;
}

/** Which names there are. The values have checks of their own, which say more. */
const rules = {
  title: 'options of createWorkerRunner',
  code: 'E_INVALID_VALUE',
  fields: { tools: { kind: 'any' }, stepTimeout: { kind: 'any' } },
} as const satisfies TypeRules;

/**
 * A runner whose turns run in a worker. `stream`, `run`, listeners and gates are those of a runner here; a gate's
 * `resolve`, `reject` and `abort` return a promise.
 */
export class WorkerRunner<Output = unknown> extends RemoteRunner<WorkerInput, Output> {
  readonly #place: WorkerPlace;

  /** @internal */
  constructor(place: WorkerPlace) {
    super(place);
    this.#place = place;
  }

  /**
   * Ends the worker at once, even one that hangs. Its turns fail with E_WORKER_ENDED. If the runner has a function that
   * makes workers, the next turn gets a new one.
   */
  terminate(): void {
    this.#place.terminate();
  }
}

/**
 * Makes a runner of turns that run in a worker, where `serveRunner` offers a runner. It starts nothing in this thread
 * but messages: the module is loaded, compiled and run in the worker.
 *
 * @example
 * const url = new URL('./agent-worker.js', import.meta.url);
 * const runner = createWorkerRunner(() => new Worker(url, { type: 'module' }));
 * for await (const event of runner.stream({ message: 'Hello' })) {
 *   if (event.event === 'message') output.textContent += event.aDelta;
 * }
 *
 * @param worker the worker, or a function that makes one: for the first turn, and for the first after a worker ended
 * @typeParam Output the type of answers, from the schema of the runner in the worker
 * @throws TurncoreError E_INVALID_VALUE naming the argument
 */
export function createWorkerRunner<Output = unknown>(
  worker: WorkerChannel | (() => WorkerChannel),
  options: WorkerRunnerOptions = {},
): WorkerRunner<Output> {
  if (typeof worker !== 'function') requireChannel(worker, 'worker');
  const given = options ?? {};
  check(rules, given);
  return new WorkerRunner<Output>(new WorkerPlace(worker, given));
}

/** @throws TurncoreError E_INVALID_VALUE unless these are tools of a page, each with a name of its own */
function requireTools(tools: unknown): Map<string, AnyPageTool> {
  if (!Array.isArray(tools)) throw invalidValue('tools', 'must be a list');
  const byName = new Map<string, AnyPageTool>();
  for (const [i, tool] of (tools as unknown[]).entries()) {
    if (!(tool instanceof PageTool)) {
      throw invalidValue(`tools[${i}]`, `must be a PageTool${ofOtherCopy(tool)}`);
    }
    if (byName.has(tool.name)) {
      throw invalidValue(`tools[${i}]`, `there is another tool ${JSON.stringify(tool.name)}`);
    }
    byName.set(tool.name, tool as AnyPageTool);
  }
  return byName;
}

/** @internal A worker as the place where turns run. */
export class WorkerPlace implements TurnPlace<WorkerInput> {
  readonly #worker: WorkerChannel | (() => WorkerChannel);
  readonly #tools: ReadonlyMap<string, AnyPageTool>;
  readonly #timeout: number | undefined;
  readonly #agent: AgentForm | undefined;
  #connection: Connection | undefined;

  /** @throws TurncoreError E_INVALID_VALUE naming the option */
  constructor(
    worker: WorkerChannel | (() => WorkerChannel),
    { tools = [], stepTimeout }: WorkerRunnerOptions,
    agent?: AgentForm,
  ) {
    this.#worker = worker;
    this.#tools = requireTools(tools);
    this.#timeout = requireTimeout(stepTimeout);
    this.#agent = agent;
    if (typeof worker !== 'function') this.#connection = this.#connect(worker);
  }

  /** Resolves when the worker has made its runner. @throws why it has not (rejects) */
  async ready(): Promise<void> {
    await this.#open().opened;
  }

  start(turn: RemoteTurn<WorkerInput>): Promise<TurnEnd> {
    const input = Connection.inputOf(turn);
    return this.#open().run(turn, input);
  }

  async settle(turnId: string, gateId: string, settlement: Settlement): Promise<void> {
    await this.#open().settle(turnId, gateId, settlement);
  }

  terminate(): void {
    this.#connection?.end(TurncoreError.of('E_WORKER_ENDED', 'terminate() was called'));
    this.#connection?.terminate();
  }

  /** The connection to the worker, or to a new one if it has ended and another can be made. */
  #open(): Connection {
    const make = this.#worker;
    if (typeof make === 'function' && this.#connection?.ended !== undefined) {
      this.#connection.terminate();
      this.#connection = undefined;
    }
    if (this.#connection !== undefined) return this.#connection;
    let worker: WorkerChannel;
    try {
      worker = (make as () => WorkerChannel)();
    } catch (cause) {
      throw TurncoreError.of('E_WORKER_FAILED', messageOf(cause), { cause });
    }
    this.#connection = this.#connect(requireChannel(worker, 'worker'));
    return this.#connection;
  }

  #connect(worker: WorkerChannel): Connection {
    return new Connection(worker, this.#tools, this.#timeout, this.#agent);
  }
}

/**
 * Agents that run in workers.
 */
import { invalidValue } from '../errors.js';
import type { ChatModel } from '../front/create-runner.js';
import type { Fuel } from '../metering/module.js';
import type { WorkerChannel } from '../worker/channel.js';
import type { Cloneable } from '../worker/cloneable.js';
import { Packer } from '../worker/cloning.js';
import type { AnyPageTool } from '../worker/page-tool.js';
import type { AgentForm } from '../worker/protocol.js';
import { WorkerPlace, WorkerRunner } from '../worker/worker-runner.js';
import type { Grant, GrantCredential } from './grant.js';
import type { Manifest } from './manifest.js';
import type { OpenedAgent } from './opened-agent.js';

/** What an agent in a worker is granted, and what the grant only names. Without a grant nothing is granted. */
export interface WorkerAgentOptions {
  /** Makes a worker that calls `serveAgent`: for the load, for each further runner, and when one was ended. */
  readonly worker: () => WorkerChannel;
  /**
   * How long the worker's thread may not answer while it loads the agent or a turn runs, in milliseconds. Then it is
   * ended, and the load or its turns fail with E_WORKER_ENDED, whose cause is a `WorkerTimeoutError`. Default: {@link
   * AGENT_STEP_TIMEOUT}.
   */
  readonly stepTimeout?: number | undefined;
  /** What the agent may do. Without one, an agent that asks for something is refused. */
  readonly grant?: Grant | undefined;
  /** Tools whose handlers run in this thread. The agent gets those that the grant names, and no others. */
  readonly tools?: readonly AnyPageTool[] | undefined;
  /** The granted store of the worker that keeps the agent's conversations: needed where the grant names more than one. */
  readonly store?: string | undefined;
  /** Makes a model that the grant names, with the key for it. For what it does not make, the worker is asked. */
  readonly model?: ((provider: string, name: string) => ChatModel | undefined) | undefined;
  /** Returns the secret of a credential. For what it does not have, the worker is asked. */
  readonly secret?: ((credential: GrantCredential) => string | undefined) | undefined;
  /** The agent's own options, which fit the schema in its manifest. */
  readonly options?: Readonly<Record<string, Cloneable>> | undefined;
  /** Bounds on what the module's code may do. */
  readonly fuel?: Fuel | undefined;
  /** Bytes of the largest file. Default 32 MiB. */
  readonly maxBytes?: number | undefined;
}

/** Milliseconds for which an agent's worker may not answer unless the options say otherwise. */
export const AGENT_STEP_TIMEOUT = 10_000;

/** What crosses to the worker beside the file. */
export interface GivenAgent {
  readonly grant: Grant | undefined;
  /** Models by `provider/name`. */
  readonly models: Readonly<Record<string, ChatModel>>;
  /** Secrets by the names of credentials. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly store: string | undefined;
  readonly options: Readonly<Record<string, unknown>> | undefined;
  readonly fuel: Fuel | undefined;
  readonly maxBytes: number | undefined;
}

/** An agent with its grant, in workers: each of its runners has one. */
export class WorkerAgent {
  readonly manifest: Manifest;
  readonly grant: Grant;
  readonly #make: () => WorkerPlace;
  readonly #places: WorkerPlace[];
  /** That of the load, until a runner has it. */
  #first: WorkerPlace | undefined;

  /** @internal */
  constructor(manifest: Manifest, grant: Grant, first: WorkerPlace, make: () => WorkerPlace) {
    this.manifest = manifest;
    this.grant = grant;
    this.#first = first;
    this.#places = [first];
    this.#make = make;
  }

  /** Makes a runner of the agent. What a turn has beside its input, such as middleware, is given to `serveAgent`. */
  createRunner<Output = unknown>(): WorkerRunner<Output> {
    let place = this.#first;
    this.#first = undefined;
    if (place === undefined) {
      place = this.#make();
      this.#places.push(place);
    }
    return new WorkerRunner<Output>(place);
  }

  /** Ends all workers of the agent at once. Their turns fail with E_WORKER_ENDED; a later turn gets another worker. */
  terminate(): void {
    for (const place of this.#places) place.terminate();
  }
}

/** Has a worker load an agent. @throws TurncoreError as `loadAgent` does, E_WORKER_FAILED, E_WORKER_ENDED (rejects) */
export async function workerAgentOf(
  { source, manifest }: OpenedAgent,
  options: WorkerAgentOptions,
): Promise<WorkerAgent> {
  const { worker, tools, stepTimeout = AGENT_STEP_TIMEOUT } = options;
  if (typeof worker !== 'function') throw invalidValue('worker', 'must be a function');
  const given = new Packer().pack(givenOf(options), 'options', 'throw');
  const form: AgentForm = { file: source, given };
  const make = (): WorkerPlace => new WorkerPlace(worker, { tools, stepTimeout }, form);
  const place = make();
  try {
    await place.ready();
  } catch (error) {
    place.terminate();
    throw error;
  }
  return new WorkerAgent(manifest, options.grant ?? { agent: manifest.name }, place, make);
}

/** What the options give the agent, as data. */
function givenOf(given: WorkerAgentOptions): GivenAgent {
  const { grant, model, secret, store, options, fuel, maxBytes } = given;
  const models: Record<string, ChatModel> = {};
  for (const named of Object.values(grant?.models ?? {})) {
    const slash = named.indexOf('/');
    const made = model?.(named.slice(0, slash), named.slice(slash + 1));
    if (made !== undefined) models[named] = made;
  }
  const secrets: Record<string, string> = {};
  for (const credential of grant?.credentials ?? []) {
    const value = secret?.(credential);
    if (value !== undefined) secrets[credential.name] = value;
  }
  return { grant, models, secrets, store, options, fuel, maxBytes };
}

/**
 * The worker's side of an agent that runs in one.
 */
import { TurncoreError } from '../errors.js';
import { ownChannel, type WorkerChannel } from '../worker/channel.js';
import { Unpacker } from '../worker/cloning.js';
import { serve } from '../worker/serve-runner.js';
import { type Agent, type AgentOptions, loadAgent } from './load.js';
import type { GivenAgent } from './worker-agent.js';

/** What a worker has for the agents that it loads: what cannot cross to it. */
export interface ServeAgentOptions extends Pick<
  AgentOptions,
  'tools' | 'stores' | 'model' | 'secret' | 'host'
> {
  /** Settings of the agent's runner. */
  readonly runner?: Parameters<Agent['createRunner']>[0];
}

/**
 * Loads in this worker the agent that a page gives to `loadAgent` with the option `worker`, and offers its runner to
 * the page. The grant is the page's. What it only names is the page's too, and this worker's where the page has none.
 * Call it once, when the worker starts.
 *
 * @example
 * serveAgent();
 *
 * @param channel the way to the page. Default: that of a dedicated worker, or of a worker of Node
 * @throws TurncoreError E_INVALID_VALUE naming the argument
 */
export function serveAgent(
  options: ServeAgentOptions = {},
  channel: WorkerChannel = ownChannel(),
): void {
  const { tools = [], stores, model, secret, host, runner } = options;
  serve(async (pageTools, form) => {
    if (form === undefined) {
      const why = 'serveAgent needs a page that calls loadAgent with this worker';
      throw TurncoreError.of('E_WORKER_FAILED', why);
    }
    const given = new Unpacker().unpack(form.given) as GivenAgent;
    const { models, secrets } = given;
    const agent = await loadAgent(form.file, {
      grant: given.grant,
      store: given.store,
      options: given.options,
      fuel: given.fuel,
      maxBytes: given.maxBytes,
      tools: [...pageTools, ...tools],
      stores,
      model: (provider, name) => models[`${provider}/${name}`] ?? model?.(provider, name),
      secret:
        secret === undefined && Object.keys(secrets).length === 0
          ? undefined
          : (credential) => secrets[credential.name] ?? secret?.(credential),
      host,
    });
    return agent.createRunner(runner);
  }, channel);
}

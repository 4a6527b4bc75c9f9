/**
 * The chat executor of an agent, which may have several models.
 */
import { ChatExecutor, type EngineOptions } from '../chat/chat-executor.js';
import type { ModelEngine } from '../chat/model-engine.js';
import type { ChatOptions } from '../chat/options.gen.js';
import type { HTTPArgs } from '../codec/tuples.gen.js';
import { type Endpoint, takes } from './route.js';

/** The options of a model behind an API, as the module is told of them, and where it answers. */
export type ModelAt = readonly [told: ChatExecutor['options'], at: Endpoint];

/**
 * Makes the executor of an agent's first model.
 *
 * @param engines all that its models are, by their names
 * @param others the models behind an API
 */
export function agentExecutor(
  options: ChatOptions | EngineOptions,
  engines: ReadonlyMap<string, ModelEngine>,
  others: readonly ModelAt[],
): ChatExecutor {
  class AgentExecutor extends ChatExecutor {
    override engineOf(name: string): ModelEngine | undefined {
      return engines.get(name);
    }

    /** A key is sent for an answer of its own model only, so that it tells which one is asked. */
    override asked({ credential, url, method, body }: HTTPArgs): ModelAt[0] | undefined {
      const keyed = credential !== '';
      if (!keyed && !URL.canParse(url)) return undefined;
      const found = others.find(
        ([told, at]) =>
          (told['credential'] ?? '') === credential &&
          (keyed || takes(at, new URL(url), { method, body })),
      );
      return found?.[0];
    }
  }
  return new AgentExecutor(options);
}

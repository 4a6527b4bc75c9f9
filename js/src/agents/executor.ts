/**
 * The chat executor of an agent, which may have several models that the host runs itself.
 */
import { ChatExecutor, type EngineOptions } from '../chat/chat-executor.js';
import type { ModelEngine } from '../chat/model-engine.js';
import type { ChatOptions } from '../chat/options.gen.js';

/** Makes the executor of an agent's first model. @param engines all that its models are, by their names */
export function agentExecutor(
  options: ChatOptions | EngineOptions,
  engines: ReadonlyMap<string, ModelEngine>,
): ChatExecutor {
  class AgentExecutor extends ChatExecutor {
    override engineOf(name: string): ModelEngine | undefined {
      return engines.get(name);
    }
  }
  return new AgentExecutor(options);
}

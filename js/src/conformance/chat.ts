/**
 * The executor inside the module, and models that it may ask.
 */
import { ChatExecutor, type ModelEngine } from '../index.js';
import { type ModelPart } from '../entries/models.js';
import { aborted, abortSoon } from './hang.js';
import { PROVIDER } from './network.js';
import { type Fields, fields, list, str } from './scenario.js';
import type { Stage } from './stage.js';

/** Makes the executor that a scenario's options describe. */
export function chatExecutor(stage: Stage, options: Fields): ChatExecutor {
  const { engine, ...rest } = options;
  if (engine !== undefined) return new ChatExecutor({ ...rest, engine: model(stage, engine) });
  return new ChatExecutor({ model: 'm', baseURL: `${PROVIDER}/v1`, ...rest });
}

/** A model that answers as the scenario says. */
function model(stage: Stage, spec: unknown): ModelEngine {
  const given = fields(spec, 'name', 'capabilities', 'answers');
  const name = str(given['name'], 'scripted');
  const answers = list(given['answers']);
  return {
    name,
    capabilities: given['capabilities'] as ModelEngine['capabilities'],
    async *generate({ signal, ...request }): AsyncGenerator<ModelPart> {
      // Not every language tells no content from an empty one.
      const messages = request.messages.map((m) => ({ ...m, content: m.content ?? '' }));
      stage.write({ model: name, request: { ...request, messages } });
      const parts = answers[stage.count(`model ${name}`)];
      if (parts === undefined) throw new TypeError('there is no answer');
      for (const part of list(parts)) {
        if (typeof part === 'string') throw stage.error(part) as Error;
        if ((part as { hangs?: boolean }).hangs === true) {
          abortSoon(stage.values);
          await aborted(signal);
          return;
        }
        yield part as ModelPart;
      }
    },
  };
}

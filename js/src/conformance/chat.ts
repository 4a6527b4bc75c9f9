/**
 * The executor inside the module, and models that it may ask.
 */
import { ChatExecutor, type ModelEngine } from '../index.js';
import { type ModelPart } from '../entries/models.js';
import type { Line } from './line.js';
import { aborted, PROVIDER } from './network.js';
import { type Fields, fields, list, str } from './scenario.js';

/** What a scripted model needs of the scenario's play. */
export interface ModelSink {
  write(line: Line): void;
  error(name: string): unknown;
  /** Has the run aborted a moment later. */
  abortSoon(): void;
  /** How often a function was called before. Counts this call. */
  count(by: string): number;
}

/** Makes the executor that a scenario's options describe. */
export function chatExecutor(sink: ModelSink, options: Fields): ChatExecutor {
  const { engine, ...rest } = options;
  if (engine !== undefined) return new ChatExecutor({ ...rest, engine: model(sink, engine) });
  return new ChatExecutor({ model: 'm', baseURL: `${PROVIDER}/v1`, ...rest });
}

/** A model that answers as the scenario says. */
function model(sink: ModelSink, spec: unknown): ModelEngine {
  const given = fields(spec, 'name', 'capabilities', 'answers');
  const name = str(given['name'], 'scripted');
  const answers = list(given['answers']);
  return {
    name,
    capabilities: given['capabilities'] as ModelEngine['capabilities'],
    async *generate({ signal, ...request }): AsyncGenerator<ModelPart> {
      // Not every language tells no content from an empty one.
      const messages = request.messages.map((m) => ({ ...m, content: m.content ?? '' }));
      sink.write({ model: name, request: { ...request, messages } });
      const parts = answers[sink.count(`model ${name}`)];
      if (parts === undefined) throw new TypeError('there is no answer');
      for (const part of list(parts)) {
        if (typeof part === 'string') throw sink.error(part) as Error;
        if ((part as { hangs?: boolean }).hangs === true) {
          sink.abortSoon();
          await aborted(signal);
          return;
        }
        yield part as ModelPart;
      }
    },
  };
}

/**
 * The chat executor, which is compiled into the module.
 */
import { ofOtherCopy } from '../other-copy.js';
import type { HTTPArgs } from '../codec/tuples.gen.js';
import type { ChatOptions, EngineChatOptions } from './options.gen.js';
import type { ModelEngine } from './model-engine.js';
import { resolved } from './providers.js';
import { frozenCopy } from '../stash/copy-value.js';
import { outputJsonSchema, type OutputSchema } from '../output/output.js';
import { type AnyFunction, type Converter, invalid } from '../validation/field-kinds.js';
import { phrase, violationError } from '../validation/rules.js';

/** A model that the host runs itself, and settings of the executor. */
export interface EngineOptions extends EngineChatOptions {
  /** The model. */
  readonly engine: ModelEngine;
  /** An engine has none. */
  readonly provider?: undefined;
  /** Its name. Default: the engine's name. */
  readonly model?: string | undefined;
}

/**
 * Represents the executor inside the module: it turns the context into a request of the provider's API, streams the
 * answer, runs the tools that the model calls, and acks if there are none. Pass it instead of an executor function.
 */
export class ChatExecutor<Output = unknown> {
  /** Its options for the module, deeply frozen. */
  readonly options: Readonly<Record<string, unknown>> & { readonly model: string };
  /** The engine of the host, if it has one. */
  readonly engine: ModelEngine | undefined;
  /** The given schema of answers. */
  readonly schema: OutputSchema<Output> | undefined;
  /** @internal The options of the model that a request asks, where there may be several models. */
  asked?(args: HTTPArgs): ChatExecutor['options'] | undefined;

  /**
   * @throws TurncoreError E_INVALID_VALUE for options that are not JSON-like data, E_CHAT_INVALID_OPTIONS for an
   * invalid engine, and for a Standard Schema without a JSON Schema
   */
  constructor(
    options: (ChatOptions | EngineOptions) & { schema?: OutputSchema<Output> | undefined },
  ) {
    const { engine, schema, ...others } = options as Partial<EngineOptions>;
    const address = others as { baseURL?: unknown };
    address.baseURL &&= resolved(address.baseURL);
    this.schema = schema as OutputSchema<Output> | undefined;
    const rest =
      this.schema === undefined ? others : { ...others, schema: outputJsonSchema(this.schema) };
    this.engine = engine;
    const told = engine === undefined ? rest : { ...rest, ...aboutEngine(engine, rest.model) };
    this.options = frozenCopy(told, 'model') as ChatExecutor['options'];
    Object.freeze(this);
  }

  /** @internal The engine that the module calls so. */
  engineOf(name: string): ModelEngine | undefined {
    return this.options.model === name ? this.engine : undefined;
  }
}

/** The description of an engine for the module. */
function aboutEngine(engine: ModelEngine, model: string | undefined): Record<string, unknown> {
  if (typeof (engine as Partial<ModelEngine> | null)?.generate !== 'function') {
    throw violationError('E_CHAT_INVALID_OPTIONS', [
      phrase('function', { field: 'engine.generate' }),
    ]);
  }
  return {
    provider: 'model',
    model: model ?? engine.name ?? 'engine',
    capabilities: engine.capabilities,
  };
}

/** The kind of field `executor`: a function, or a {@link ChatExecutor}. */
export const toExecutor: Converter<AnyFunction | ChatExecutor> = (value, report) => {
  if (typeof value === 'function') return value as AnyFunction;
  if (value instanceof ChatExecutor) return value;
  const other = ofOtherCopy(value);
  if (other !== '') report(`must be a function or a chat executor${other}`);
  return invalid;
};

/**
 * ONNX models, through the library transformers.js.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import type { ModelPart, ModelRequest } from '../chat/model-engine.js';
import { isObject } from '../validation/field-kinds.js';
import { type Checked, phrase } from '../validation/rules.js';
import {
  type Adapter,
  type EngineSettings,
  given,
  type PageEngine,
  pageEngine,
  settingRules,
} from './page-engine.js';

/** The used part of a pipeline for `text-generation`. */
export interface TextGenerator {
  (messages: never, options: never): Promise<unknown>;
  readonly tokenizer: unknown;
  dispose(): Promise<unknown>;
}

/** The used part of the library: two of its classes, and its source of random numbers. */
export interface TransformersLike {
  readonly TextStreamer: new (tokenizer: never, options: never) => unknown;
  readonly InterruptableStoppingCriteria: new () => { interrupt(): void };
  /** With a function `seed`, from version 4 on. Without it, the engine takes no `seed`. */
  readonly random?: object | undefined;
}

/** A progress report of transformers.js. */
export interface TransformersProgress {
  readonly status: string;
  readonly file?: string | undefined;
  /** Percent of a file, or of all files if the status is "progress_total". */
  readonly progress?: number | undefined;
}

/** Settings of {@link transformersEngine}. */
export interface TransformersSettings extends EngineSettings {
  /** The library: `import * as transformers from '@huggingface/transformers'`. */
  readonly transformers: TransformersLike;
  /**
   * Makes the pipeline:
   *
   * @example
   * load: (progress_callback, signal) => {
   *   env.fetch = (url, init) => fetch(url, { ...init, signal }); // cancels the download
   *   return pipeline('text-generation', modelId, { progress_callback });
   * }
   *
   * @param signal fires when the engine is disposed of
   */
  readonly load: (
    progress: (info: TransformersProgress) => void,
    signal: AbortSignal,
  ) => Promise<TextGenerator>;
  /** Whether special tokens stay in the text, for models that write calls with them. Default: false. */
  readonly specialTokens?: boolean | undefined;
}

const rules = {
  title: 'settings of transformersEngine',
  code: 'E_INVALID_VALUE',
  fields: {
    ...settingRules,
    transformers: { kind: 'object', required: true },
    load: { kind: 'function', required: true },
    specialTokens: { kind: 'boolean' },
  },
} as const satisfies TypeRules;

/** Options of an answer that the library ignores. */
const IGNORED = ['frequency_penalty', 'min_p', 'presence_penalty', 'stop', 'top_p'];
/** Bound on the tokens of an answer if a request sets none; the library's own is 20 or 256. */
const MAX_TOKENS = 1024;

/**
 * An engine that runs ONNX models: text in, text out. It answers one request after another.
 *
 * Of the options of an answer it takes `max_tokens`, `temperature`, `top_k` and, from version 4 of the library on,
 * `seed`. The library ignores the others: a request with one fails with E_CHAT_INVALID_OPTIONS. Members of `body` go to
 * the library, such as `repetition_penalty`.
 *
 * @throws TurncoreError E_INVALID_VALUE listing every setting that is unknown or wrong
 */
export function transformersEngine(settings: TransformersSettings): PageEngine {
  return pageEngine({ rules, also }, settings, adapterOf);
}

function also({ transformers }: Checked): string[] {
  if (!isObject(transformers)) return [];
  return ['TextStreamer', 'InterruptableStoppingCriteria']
    .filter((name) => typeof transformers[name] !== 'function')
    .map((name) => phrase('function', { field: `transformers.${name}` }));
}

function adapterOf(settings: TransformersSettings): Adapter<TextGenerator> {
  let free = Promise.resolve();
  return {
    name: 'transformers.js',
    capabilities: {},
    refuses(options) {
      const seeds = seederOf(settings.transformers) !== undefined;
      return given(options, seeds ? IGNORED : [...IGNORED, 'seed']);
    },
    load(tell, signal) {
      let total: number | undefined;
      return settings.load(({ status, file, progress }) => {
        const part = progress === undefined ? undefined : progress / 100;
        if (status === 'progress_total') total = part;
        else if (status === 'progress' && total !== undefined) return;
        // Sessions are made when the last file has arrived.
        const arrived = status === 'done' && (total === undefined || total >= 1);
        tell({
          phase: arrived || status === 'ready' ? 'compiling' : 'loading',
          progress: part ?? total,
          detail: file === undefined ? status : `${status} ${file}`,
        });
      }, signal);
    },
    unload: (generator) => generator.dispose(),
    async *generate(generator, request) {
      const turn = free;
      let leave!: () => void;
      free = new Promise((resolve) => (leave = resolve));
      try {
        await turn;
        request.signal.throwIfAborted();
        yield* answer(settings, generator, request);
      } finally {
        leave();
      }
    },
  };
}

/** The library's source of random numbers, if it can be seeded. */
function seederOf({ random }: TransformersLike): { seed(seed: number): unknown } | undefined {
  const { seed } = (random ?? {}) as { seed?: unknown };
  return typeof seed === 'function' ? (random as { seed(seed: number): unknown }) : undefined;
}

async function* answer(
  { transformers, specialTokens = false }: TransformersSettings,
  generator: TextGenerator,
  { messages, tools, options, signal }: ModelRequest,
): AsyncGenerator<ModelPart> {
  const pieces: string[] = [];
  let wake = (): void => undefined;
  let tokens = 0;
  let ended = false;
  const streamer = new transformers.TextStreamer(
    generator.tokenizer as never,
    {
      skip_prompt: true,
      skip_special_tokens: !specialTokens,
      callback_function: (text: string) => {
        pieces.push(text);
        wake();
      },
      token_callback_function: (ids: readonly unknown[]) => {
        tokens += ids.length;
      },
    } as never,
  );
  const criteria = new transformers.InterruptableStoppingCriteria();
  const interrupt = (): void => criteria.interrupt();
  signal.addEventListener('abort', interrupt);
  const { seed, ...sampling } = samplingOf(options ?? {});
  if (seed !== undefined) seederOf(transformers)?.seed(seed);
  const running = generator(
    messages as never,
    { ...sampling, tools: tools ?? null, streamer, stopping_criteria: criteria } as never,
  ).finally(() => {
    ended = true;
    wake();
  });
  running.catch(() => undefined); // it is awaited in the end
  try {
    for (;;) {
      const text = pieces.splice(0).join('');
      if (text !== '') yield { text };
      else if (ended) break;
      else if (pieces.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    }
    await running;
    const finish = tokens >= sampling.max_new_tokens ? 'length' : 'stop';
    yield { finish, usage: { completionTokens: tokens } };
  } finally {
    signal.removeEventListener('abort', interrupt);
    if (!ended) {
      interrupt();
      await running.catch(() => undefined);
    }
  }
}

/** Options under the library's names. */
function samplingOf(options: Readonly<Record<string, unknown>>): {
  max_new_tokens: number;
  seed: number | undefined;
  [name: string]: unknown;
} {
  const { max_tokens, temperature, seed, ...others } = options;
  const sampling: Record<string, unknown> = { ...others };
  // A temperature of 0 turns sampling off in the library; without a temperature the model's files decide.
  if (typeof temperature === 'number') {
    sampling['do_sample'] = temperature > 0;
    if (temperature > 0) sampling['temperature'] = temperature;
  }
  return {
    max_new_tokens: MAX_TOKENS,
    ...sampling,
    ...(typeof max_tokens === 'number' ? { max_new_tokens: max_tokens } : {}),
    seed: typeof seed === 'number' ? seed : undefined,
  };
}

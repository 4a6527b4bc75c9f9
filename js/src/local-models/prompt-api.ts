/**
 * The browser's own model: the Prompt API.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import type { ModelContent, ModelMessage, ModelPart } from '../chat/model-engine.js';
import { isAbsent, isObject } from '../validation/field-kinds.js';
import type { Checked } from '../validation/rules.js';
import { unsupported } from './device.js';
import {
  type Adapter,
  type EngineSettings,
  given,
  type PageEngine,
  pageEngine,
  settingRules,
} from './page-engine.js';

/** The used part of the global `LanguageModel`. */
export interface LanguageModelLike {
  availability(options?: object): Promise<string>;
  create(options?: object): Promise<LanguageModelSession>;
  /** Only where sessions take `temperature` and `topK`: in extensions, and in trials. */
  params?(): Promise<LanguageModelParams | null>;
}

/** What sessions have unless their options say otherwise. */
export interface LanguageModelParams {
  readonly defaultTemperature: number;
  readonly defaultTopK: number;
}

/** The used part of a session. */
export interface LanguageModelSession {
  promptStreaming(input: never, options?: object): AsyncIterable<unknown>;
  destroy(): void;
  /** Tokens used by the session. */
  readonly contextUsage?: number | undefined;
}

/** Settings of {@link promptAPIEngine}. */
export interface PromptAPISettings extends EngineSettings {
  /** The API. Default: the global `LanguageModel`. */
  readonly languageModel?: LanguageModelLike | undefined;
  /** Options of every session, such as `samplingMode` and `expectedOutputs`. */
  readonly create?: Readonly<Record<string, unknown>> | undefined;
}

const rules = {
  title: 'settings of promptAPIEngine',
  code: 'E_INVALID_VALUE',
  fields: { ...settingRules, languageModel: { kind: 'any' }, create: { kind: 'object' } },
} as const satisfies TypeRules;

/** Options of sessions that the engine sets. */
const OWN = ['initialPrompts', 'monitor', 'signal'];
/** Options of an answer for which the API has nothing. */
const UNKNOWN = [
  'frequency_penalty',
  'max_tokens',
  'min_p',
  'presence_penalty',
  'seed',
  'stop',
  'top_p',
];
/** Options of an answer that some browsers let a page choose. */
const SAMPLING = ['temperature', 'top_k'];

/**
 * An engine on the browser's model. It accepts JSON Schemas. Each answer has its own session; one session stays open,
 * so that the model stays loaded. For `media` in the capabilities, image or audio, `create` must expect such inputs.
 * Loading may need a user's click if the browser must download the model.
 *
 * Of the options of an answer it takes `temperature` and `top_k`, where the browser lets the page choose them: in
 * extensions, and in trials. Others fail the request with E_CHAT_INVALID_OPTIONS. Members of `body` become options of
 * the session.
 *
 * @throws TurncoreError E_INVALID_VALUE listing every setting that is unknown or wrong
 */
export function promptAPIEngine(settings: PromptAPISettings = {}): PageEngine {
  return pageEngine({ rules, also }, settings, adapterOf);
}

function adapterOf({ languageModel, create }: PromptAPISettings): Adapter<LanguageModelSession> {
  const find = (): LanguageModelLike | undefined =>
    languageModel ?? (globalThis as { LanguageModel?: LanguageModelLike }).LanguageModel;
  const api = (): LanguageModelLike => {
    const found = find();
    if (found === undefined) throw unsupported(['this browser has no Prompt API (LanguageModel)']);
    return found;
  };
  return {
    name: 'prompt-api',
    capabilities: { grammar: 'schema' },
    refuses(options) {
      const samples = find() === undefined || api().params !== undefined;
      return given(options, samples ? UNKNOWN : [...UNKNOWN, ...SAMPLING]);
    },
    async load(tell, signal) {
      const availability = await api().availability(create);
      if (availability === 'unavailable') {
        throw unsupported(["the browser's own model is unavailable"]);
      }
      const monitor = (target: EventTarget): void => {
        target.addEventListener('downloadprogress', (event) => {
          const { loaded } = event as ProgressEvent;
          tell({ phase: loaded < 1 ? 'loading' : 'compiling', progress: loaded });
        });
      };
      return api().create({ ...create, monitor, signal });
    },
    unload: (session) => session.destroy(),
    async *generate(_, { messages, options = {}, schema, signal }) {
      const last = messages.at(-1);
      const initialPrompts = messages.slice(0, -1).map(promptOf);
      const chosen = await sessionOptions(api(), options);
      const session = await api().create({ ...create, ...chosen, initialPrompts, signal });
      try {
        const how = schema === undefined ? { signal } : { signal, responseConstraint: schema };
        const input = last === undefined ? [] : [promptOf(last)];
        for await (const piece of session.promptStreaming(input as never, how)) {
          const part = partOf(piece);
          if (part !== undefined) yield part;
        }
        yield { finish: 'stop', usage: { totalTokens: session.contextUsage } };
      } finally {
        session.destroy();
      }
    },
  };
}

function also({ languageModel, create }: Checked): string[] {
  const { availability, create: begin } = (languageModel ?? {}) as Partial<LanguageModelLike>;
  const right = typeof availability === 'function' && typeof begin === 'function';
  const violations = OWN.filter((name) => isObject(create) && name in create).map(
    (name) => `\`create.${name}\` is set by the engine`,
  );
  if (isAbsent(languageModel) || right) return violations;
  return [...violations, '`languageModel` must have the functions availability and create'];
}

/** Options of an answer under the names of the API. A session takes both of its own, or neither. */
async function sessionOptions(
  api: LanguageModelLike,
  { temperature, top_k: topK, ...others }: Readonly<Record<string, unknown>>,
): Promise<object> {
  if (isAbsent(temperature) && isAbsent(topK)) return others;
  const usual = await api.params?.();
  return {
    ...others,
    temperature: temperature ?? usual?.defaultTemperature,
    topK: topK ?? usual?.defaultTopK,
  };
}

/** A message in the API's format, which has no tool results. */
function promptOf({ role, content }: ModelMessage): { role: string; content: unknown } {
  return {
    role: role === 'tool' ? 'user' : role,
    content: Array.isArray(content) ? content.map(contentOf) : (content ?? ''),
  };
}

/** A part of a message in the API's format: media are blobs. */
function contentOf(part: ModelContent): { type: string; value: unknown } {
  switch (part.type) {
    case 'text':
      return { type: 'text', value: part.text };
    case 'image_url':
      return { type: 'image', value: blobOf(part.image_url.url) };
    case 'input_audio': {
      const { data, format } = part.input_audio;
      return { type: 'audio', value: blobOf(`data:audio/${format};base64,${data}`) };
    }
    default:
      throw new Error(`the Prompt API takes no ${part.type}`);
  }
}

/** The data of a data URI with base64. */
function blobOf(uri: string): Blob {
  const comma = uri.indexOf(',');
  const bytes = Uint8Array.from(atob(uri.slice(comma + 1)), (c) => c.charCodeAt(0));
  return new Blob([bytes], { type: uri.slice('data:'.length, uri.indexOf(';')) });
}

/** A piece of an answer: text, or an object with its type if the session shows its thoughts. */
function partOf(piece: unknown): ModelPart | undefined {
  if (typeof piece === 'string') return piece === '' ? undefined : { text: piece };
  const { type, value } = piece as { type?: unknown; value?: unknown };
  if (typeof value !== 'string' || value === '') return undefined;
  return type === 'thought' ? { reasoning: value } : { text: value };
}

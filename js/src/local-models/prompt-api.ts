/**
 * The browser's own model: the Prompt API.
 */
import type { ModelContent, ModelMessage, ModelPart } from '../chat/model-engine.js';
import { unsupported } from './device.js';
import { type EngineSettings, type PageEngine, pageEngine } from './page-engine.js';

/** The used part of the global `LanguageModel`. */
export interface LanguageModelLike {
  availability(options?: object): Promise<string>;
  create(options?: object): Promise<LanguageModelSession>;
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

/**
 * An engine on the browser's model. It accepts JSON Schemas. Each answer has its own session; one session stays open,
 * so that the model stays loaded. For `media` in the capabilities, image or audio, `create` must expect such inputs.
 * Loading may need a user's click if the browser must download the model.
 */
export function promptAPIEngine(settings: PromptAPISettings = {}): PageEngine {
  const api = (): LanguageModelLike => {
    const found =
      settings.languageModel ?? (globalThis as { LanguageModel?: LanguageModelLike }).LanguageModel;
    if (found === undefined) throw unsupported(['this browser has no Prompt API (LanguageModel)']);
    return found;
  };
  return pageEngine<LanguageModelSession>(settings, {
    name: 'prompt-api',
    capabilities: { grammar: 'schema' },
    async load(tell, signal) {
      const availability = await api().availability(settings.create);
      if (availability === 'unavailable') {
        throw unsupported(["the browser's own model is unavailable"]);
      }
      const monitor = (target: EventTarget): void => {
        target.addEventListener('downloadprogress', (event) => {
          const { loaded } = event as ProgressEvent;
          tell({ phase: loaded < 1 ? 'loading' : 'compiling', progress: loaded });
        });
      };
      return api().create({ ...settings.create, monitor, signal });
    },
    unload: (session) => session.destroy(),
    async *generate(_, { messages, schema, signal }) {
      const last = messages.at(-1);
      const initialPrompts = messages.slice(0, -1).map(promptOf);
      const session = await api().create({ ...settings.create, initialPrompts, signal });
      try {
        const options = schema === undefined ? { signal } : { signal, responseConstraint: schema };
        const input = last === undefined ? [] : [promptOf(last)];
        for await (const piece of session.promptStreaming(input as never, options)) {
          const part = partOf(piece);
          if (part !== undefined) yield part;
        }
        yield { finish: 'stop', usage: { totalTokens: session.contextUsage } };
      } finally {
        session.destroy();
      }
    },
  });
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

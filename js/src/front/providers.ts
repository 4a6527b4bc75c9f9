/**
 * Providers of models: what a host knows of their APIs.
 */
import type { ProviderName } from '../models/chat-options.js';
import type { Credential } from '../pump/credential.js';

/** What a host knows of a provider's API. */
interface Api {
  /** Where the provider's own is, up to the version. */
  readonly baseURL: string;
  /** Header that a key goes into. */
  readonly header: string;
  /** What stands before the key. */
  readonly before: string;
}

const OPENAI: Api = {
  baseURL: 'https://api.openai.com/v1',
  header: 'authorization',
  before: 'Bearer ',
};

const APIS: Readonly<Record<ProviderName, Api>> = {
  openai: OPENAI,
  'openai-responses': OPENAI,
  anthropic: { baseURL: 'https://api.anthropic.com/v1', header: 'x-api-key', before: '' },
  gemini: {
    baseURL: 'https://generativelanguage.googleapis.com/v1beta',
    header: 'x-goog-api-key',
    before: '',
  },
  ollama: { baseURL: 'http://localhost:11434', header: 'authorization', before: 'Bearer ' },
};

/** All protocols that the full module knows, beside engines. The first one serves where none is named. */
export const providerNames = Object.keys(APIS) as readonly ProviderName[];

/** Tells whether the module that is loaded by default lacks a provider: it has OpenAI's chat completions only. */
export function needsFullModule(provider: string): boolean {
  return provider !== 'openai' && Object.hasOwn(APIS, provider);
}

/** Where a provider's own API is, up to the version; undefined for an unknown provider. */
export function baseURLOf(provider: string): string | undefined {
  return apiOf(provider)?.baseURL;
}

/**
 * The credential of an API key, in the header where the provider's API wants it.
 *
 * @param origins that it may be sent to, such as `https://api.anthropic.com`
 */
export function providerKey(
  provider: ProviderName,
  key: string,
  origins: readonly string[],
): Credential {
  const { header, before } = apiOf(provider) ?? OPENAI;
  return { header, value: `${before}${key}`, origins };
}

function apiOf(provider: string): Api | undefined {
  return Object.hasOwn(APIS, provider) ? APIS[provider as ProviderName] : undefined;
}

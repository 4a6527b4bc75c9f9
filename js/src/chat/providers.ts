/**
 * Providers of models: what a host knows of their APIs.
 */
import type { ChatOptions, ProviderName } from './options.gen.js';
import { CORE_VALUES, type ProviderAPI, PROVIDERS } from './providers.gen.js';
import type { Credential } from '../http/credential.js';

/** All protocols that the full module knows, beside engines. The first one serves where none is named. */
export const providerNames = Object.keys(PROVIDERS) as readonly ProviderName[];

/** Tells whether the module that is loaded by default lacks the provider of a model, or what its options ask for. */
export function needsFullModule(model: Partial<ChatOptions>): boolean {
  if (apiOf(model.provider ?? 'openai')?.core === false) return true;
  return Object.entries(CORE_VALUES).some(([name, values]) => {
    const value = (model as Readonly<Record<string, unknown>>)[name] ?? undefined;
    return value !== undefined && !values.includes(value);
  });
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
  const { header, prefix } = apiOf(provider) ?? PROVIDERS.openai;
  return { header, value: `${prefix}${key}`, origins };
}

function apiOf(provider: string): ProviderAPI | undefined {
  return Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider as ProviderName] : undefined;
}

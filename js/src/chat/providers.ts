/**
 * Model providers: a host's knowledge of their APIs.
 */
import type { ChatOptions, ProviderName } from './options.gen.js';
import { CORE_VALUES, type ProviderAPI, PROVIDERS } from './providers.gen.js';
import type { Credential } from '../http/credential.js';

/** All protocols of the full module, besides engines. The first one is the default. */
export const providerNames = Object.keys(PROVIDERS) as readonly ProviderName[];

/** Whether the default module lacks a model's provider, or a feature in its options. */
export function needsFullModule(model: Partial<ChatOptions>): boolean {
  if (apiOf(model.provider ?? 'openai')?.core === false) return true;
  return Object.entries(CORE_VALUES).some(([name, values]) => {
    const value = (model as Readonly<Record<string, unknown>>)[name] ?? undefined;
    return value !== undefined && !values.includes(value);
  });
}

/** The address of a provider's own API, up to the version; undefined for an unknown provider. */
export function baseURLOf(provider: string): string | undefined {
  return apiOf(provider)?.baseURL;
}

/** An address as the platform resolves it: in a page, and in its workers, it may be relative. */
export function resolved<T>(url: T): T | string {
  try {
    return typeof url === 'string' && !/^https?:/i.test(url) ? new Request(url).url : url;
  } catch {
    return url;
  }
}

/**
 * The credential of an API key, in the header that the provider's API expects.
 *
 * @param origins to which it may be sent, such as `https://api.anthropic.com`
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

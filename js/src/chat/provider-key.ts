/**
 * Keys of providers, for hosts that a program makes itself.
 */
import type { TypeRules } from '../abi/rules.gen.js';
import type { Credential } from '../http/credential.js';
import { originViolations } from '../http/origins.js';
import { check } from '../validation/rules.js';
import type { ProviderName } from './options.gen.js';
import { providerKey as keyOf, providerNames } from './providers.js';

const rules: TypeRules = {
  title: 'arguments of providerKey',
  code: 'E_INVALID_VALUE',
  fields: {
    provider: { kind: 'string', required: true, enum: providerNames },
    key: { kind: 'string', required: true, nonEmpty: true },
    origins: { kind: 'list', required: true },
  },
};

/**
 * The credential of an API key, in the header that the provider's API expects.
 *
 * @param origins to which it may be sent, such as `https://api.anthropic.com`
 * @throws TurncoreError E_INVALID_VALUE listing every argument that is wrong
 */
export function providerKey(
  provider: ProviderName,
  key: string,
  origins: readonly string[],
): Credential {
  const also = (): string[] => originViolations('origins', origins);
  check(rules, { provider, key, origins }, { also });
  return keyOf(provider, key, origins);
}

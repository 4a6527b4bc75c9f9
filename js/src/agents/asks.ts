/**
 * Compares what an agent asks for with what a grant has.
 */
import type { Grant } from './grant.js';
import type { AgentQuota, Ask, Asks } from './manifest.js';

/** Something that an agent asks for and a grant lacks. */
export interface Missing {
  /** In words: `requests to https://api.example.com`. */
  readonly what: string;
  /** The author's reason; empty for none. */
  readonly why: string;
}

/** The names of a quota's bounds, in their order. */
export const BOUNDS = ['steps', 'frames', 'effects', 'bytes', 'tokens'] as const;

/** What is missing, in the order of the manifest. */
export function asked(asks: Asks, grant: Grant, quota: Readonly<Required<AgentQuota>>): Missing[] {
  const list: Missing[] = [];
  const lacks = (granted: boolean, what: string, why = ''): void => {
    if (!granted) list.push({ what, why });
  };
  for (const { origin, why } of asks.http ?? []) {
    lacks(grant.http?.origins.includes(origin) === true, `requests to ${origin}`, why);
  }
  for (const { name, origin, why } of asks.credentials ?? []) {
    const granted = grant.credentials?.some((c) => c.name === name && c.origins.includes(origin));
    lacks(granted === true, `the credential ${name} for ${origin}`, why);
  }
  const named = (
    what: string,
    some: readonly Ask[] | undefined,
    has: (name: string) => boolean | undefined,
  ): void => {
    for (const { name, why } of some ?? []) lacks(has(name) === true, `the ${what} ${name}`, why);
  };
  named('tool', asks.tools, (name) => grant.tools?.includes(name));
  named('model', asks.models, (name) => Object.hasOwn(grant.models ?? {}, name));
  named('store', asks.stores, (name) => grant.stores?.includes(name));
  const log = grant.log?.bytesPerTurn ?? 0;
  const wanted = asks.log ?? 0;
  lacks(wanted <= log, `${wanted} bytes of log for each turn, ${log} are granted`);
  for (const name of BOUNDS) {
    const need = asks.quota?.[name] ?? 0;
    lacks(need <= quota[name], `${need} ${name} for each turn, ${quota[name]} are granted`);
  }
  return list;
}

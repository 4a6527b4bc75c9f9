/**
 * Compares what an agent asks for with what a grant has.
 */
import { agentError } from '../agent-errors.js';
import { covers, type Grant, quotaOf, requireGranted } from './grant.js';
import type { Ask, Manifest } from './manifest.js';

/** Something that an agent asks for and a grant lacks. */
export interface Missing {
  /** In words: `requests to https://api.example.com`. */
  readonly what: string;
  /** The author's reason; empty for none. */
  readonly why: string;
}

/** The names of a quota's bounds, in their order. */
export const BOUNDS = ['steps', 'frames', 'effects', 'bytes', 'tokens'] as const;

/**
 * Everything that an agent asks for and a grant lacks, in the order of the manifest. Without a grant nothing is
 * granted.
 */
export function missing({ name: agent, asks }: Manifest, given: Grant | undefined): Missing[] {
  const grant = given ?? { agent };
  const quota = quotaOf(given);
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

/**
 * Checks that a grant is for an agent and has what it asks for.
 *
 * @throws TurncoreError E_AGENT_GRANT for a grant of another agent or version; E_AGENT_NOT_GRANTED listing everything
 *   that is missing
 */
export function requireFit(manifest: Manifest, grant: Grant | undefined): void {
  if (grant !== undefined) {
    const list: string[] = [];
    if (grant.agent !== manifest.name) {
      list.push(`\`agent\` is ${grant.agent}, the file is the agent ${manifest.name}`);
    }
    if (!covers(grant, manifest.version)) {
      list.push(`\`version\` is ${grant.version}, the file has version ${manifest.version}`);
    }
    requireGranted(list);
  }
  const list = missing(manifest, grant);
  if (list.length === 0) return;
  const text = list.map(textOf).join('; ');
  throw agentError('E_AGENT_NOT_GRANTED', text, { details: list });
}

/** Something that is missing, in words. */
export function textOf({ what, why }: Missing): string {
  return why === '' ? what : `${what} (${why})`;
}

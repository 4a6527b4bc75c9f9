/**
 * Grants: what an agent may do.
 */
import { hasDefaultPort, isPublicIPv4, isPublicIPv6 } from './address.js';
import type { AgentQuota } from './manifest.js';
import { type DocumentKind, readDocument, requireNone } from './schema.js';
import { GRANT_SCHEMA } from './schemas.gen.js';

/** Says what an agent may do; it can do nothing else. Its JSON Schema is abi/agents/grant.schema.json. */
export interface Grant {
  /** Address of the JSON Schema, for editors. */
  readonly $schema?: string;
  /** Name of the agent that it is for. */
  readonly agent: string;
  /** The version that it is for, such as `1.4.0`, or a series, such as `1.x` or `1.4.x`. Default: all. */
  readonly version?: string;
  readonly http?: {
    /** Where requests and their redirects may go. */
    readonly origins: readonly string[];
    /**
     * Whether origins may name addresses of the own machine and its networks. What a name stands for, this host cannot
     * see: it refuses addresses that are written as such, and localhost.
     */
    readonly privateAddresses?: boolean;
  };
  readonly credentials?: readonly GrantCredential[];
  /** Tools of the host. */
  readonly tools?: readonly string[];
  /** `provider/model`, by the names that the agent gives them. */
  readonly models?: Readonly<Record<string, string>>;
  /** Stores of the host. */
  readonly stores?: readonly string[];
  /** Bytes of log that are kept of each turn; what goes beyond is cut, and a note says so. Default: none. */
  readonly log?: { readonly bytesPerTurn: number };
  /** What a turn may use. */
  readonly quota?: AgentQuota;
}

/**
 * A secret that the host adds to requests. The agent never sees it: a secret of less than 8 bytes, which could not be
 * taken out of what comes back, is refused.
 */
export interface GrantCredential {
  readonly name: string;
  /** Where it may go; each is in `http.origins`, too. */
  readonly origins: readonly string[];
  /** Default: authorization. */
  readonly header?: string;
  /** Word before the secret. Default: Bearer in the header authorization, none in others. */
  readonly scheme?: string;
  /** Where the host finds it: in a variable of the environment, or in a file. */
  readonly from: { readonly env?: string; readonly file?: string };
}

/** The quota of a turn whose grant sets none. */
export const DEFAULT_AGENT_QUOTA: Readonly<Required<AgentQuota>> = {
  steps: 100_000,
  frames: 1_000_000,
  effects: 10_000,
  bytes: 256 << 20,
  tokens: 10_000_000,
};

const kind: DocumentKind = {
  what: 'grant',
  code: 'E_AGENT_GRANT',
  most: 1 << 18,
  schema: GRANT_SCHEMA,
};

/**
 * Reads a grant file.
 *
 * @throws TurncoreError E_AGENT_GRANT listing every field that is wrong, unknown ones among them
 */
export function readGrant(text: string | Uint8Array): Grant {
  const grant = readDocument(kind, text) as Grant;
  requireNone(kind, inconsistencies(grant));
  return grant;
}

/** Lists what is wrong with what a grant names. @throws TurncoreError E_AGENT_GRANT */
export function requireGranted(violations: readonly string[]): void {
  requireNone(kind, violations);
}

/** What a schema cannot say. */
function inconsistencies({ http, credentials = [] }: Grant): string[] {
  const list: string[] = [];
  const origins = http?.origins ?? [];
  origins.forEach((origin, i) => {
    if (hasDefaultPort(origin)) {
      list.push(`\`http.origins[${i}]\` has the default port of its scheme: leave it out`);
    }
    if (http?.privateAddresses === true || !isPrivateOrigin(origin)) return;
    list.push(
      `\`http.origins[${i}]\` is a private address, and \`http.privateAddresses\` is not set`,
    );
  });
  credentials.forEach(({ name, origins: own, header = '' }, i) => {
    if (credentials.findIndex((other) => other.name === name) < i) {
      list.push(`\`credentials[${i}].name\` occurs twice`);
    }
    if (OWN_HEADERS.includes(header.toLowerCase())) {
      list.push(`\`credentials[${i}].header\` is a header that the host sets itself`);
    }
    own.forEach((origin, j) => {
      if (origins.includes(origin)) return;
      list.push(`\`credentials[${i}].origins[${j}]\` is not in \`http.origins\``);
    });
  });
  return list;
}

/** Headers of the connection, which no credential can be sent in. Go has the same. */
const OWN_HEADERS: readonly string[] =
  'connection content-length expect host keep-alive te trailer transfer-encoding upgrade'.split(
    ' ',
  );

/** Whether an origin names a private address itself, without the help of a name server. */
function isPrivateOrigin(origin: string): boolean {
  const name = origin.replace(/^https?:\/\//, '').replace(/:\d+$/, '');
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  if (name.startsWith('[')) return !isPublicIPv6(name.slice(1, -1));
  if (/^\d+(\.\d+){3}$/.test(name) && name.split('.').every(isByte)) return !isPublicIPv4(name);
  return /(^|\.)(0x[0-9a-f]*|[0-9]+)$/.test(name);
}

/** Whether a text is a number of an address, which has no zeros in front. */
function isByte(text: string): boolean {
  return String(Number(text)) === text && Number(text) < 256;
}

/** The quota in force. */
export function quotaOf(grant: Grant | undefined): Readonly<Required<AgentQuota>> {
  return { ...DEFAULT_AGENT_QUOTA, ...grant?.quota };
}

/** Whether a grant is for an agent's version. */
export function covers({ version }: Grant, actual: string): boolean {
  if (version === undefined) return true;
  return version.endsWith('x') ? actual.startsWith(version.slice(0, -1)) : actual === version;
}

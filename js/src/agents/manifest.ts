/**
 * Manifests: what an agent is and what it asks for, in a custom section of its file.
 */
import { TurncoreError } from '../errors.js';
import { hasDefaultPort } from './address.js';
import { type DocumentKind, isDeeper, memberPath, readDocument, requireNone } from './schema.js';
import { MANIFEST_SCHEMA } from './schemas.gen.js';

/** Says what an agent is and what it asks for. Its JSON Schema is abi/agents/manifest.schema.json. */
export interface Manifest {
  /** Version of the format: 1. */
  readonly manifest: number;
  readonly name: string;
  /** Such as `1.4.0`. */
  readonly version: string;
  /** One line. */
  readonly description: string;
  /** Version of the core in the file. */
  readonly turncore: string;
  /** Functions that the module imports, as `module.name`, sorted. */
  readonly imports: readonly string[];
  /** Tools that the agent brings. */
  readonly tools: readonly ManifestTool[];
  /** JSON Schema of the agent's options; null if it has none. */
  readonly options: Readonly<Record<string, unknown>> | null;
  /** Whether it brings the executor; otherwise that is the chat executor. */
  readonly executor: boolean;
  readonly middleware: readonly AgentMiddleware[];
  readonly asks: Asks;
}

/** A tool that an agent brings. */
export interface ManifestTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Whether a person is asked before each call. */
  readonly confirm?: boolean;
}

/** A middleware that an agent brings. */
export interface AgentMiddleware {
  readonly pipeline: 'turnInput' | 'turnOutput' | 'dispatchInput' | 'dispatchOutput';
  readonly name: string;
}

/** What an agent needs of its host. */
export interface Asks {
  readonly http?: readonly AskOrigin[];
  readonly credentials?: readonly AskCredential[];
  /** Tools of the host. */
  readonly tools?: readonly Ask[];
  /** By names that the agent gives them. */
  readonly models?: readonly Ask[];
  /** Stores of the host. */
  readonly stores?: readonly Ask[];
  /** Bytes of log for each turn. */
  readonly log?: number;
  /** What a turn may need. */
  readonly quota?: AgentQuota;
}

/** A request for something that has a name. */
export interface Ask {
  readonly name: string;
  /** The author's reason, one line. */
  readonly why: string;
}

/** A request for the right to send HTTP requests to an origin. */
export interface AskOrigin {
  readonly origin: string;
  readonly why: string;
}

/** A request for a secret that the host adds to requests to an origin. */
export interface AskCredential extends Ask {
  readonly origin: string;
}

/** What a turn may use. In a grant a missing field stands for {@link DEFAULT_AGENT_QUOTA}. */
export interface AgentQuota {
  /** Times that the module is entered. */
  readonly steps?: number;
  /** Frames that it sends. */
  readonly frames?: number;
  /** Requests, tool calls, answers of models, reads and writes that it asks for. */
  readonly effects?: number;
  /** Bytes that it sends. */
  readonly bytes?: number;
  /** Tokens of prompts and completions, as models report them. */
  readonly tokens?: number;
}

const kind: DocumentKind = {
  what: 'manifest',
  code: 'E_AGENT_MANIFEST',
  most: 1 << 20,
  schema: MANIFEST_SCHEMA,
};

/** The name of the custom section that a manifest is in. */
export const MANIFEST_SECTION = 'turncore.agent';

/**
 * Reads the manifest of an agent's file, without running anything.
 *
 * @throws TurncoreError E_INVALID_MODULE for anything but WebAssembly; E_AGENT_MANIFEST without a manifest, or if it
 *   breaks a rule or does not fit the file's imports
 */
export function readManifest(file: Uint8Array | WebAssembly.Module): Manifest {
  const { texts, imports } = file instanceof Uint8Array ? scan(file) : describe(file);
  if (texts.length === 0) requireNone(kind, [`the file has no section ${MANIFEST_SECTION}`]);
  if (texts.length > 1) requireNone(kind, [`the file has two sections ${MANIFEST_SECTION}`]);
  const manifest = parseManifest(texts[0]!);
  const same =
    manifest.imports.length === imports.length &&
    manifest.imports.every((name, i) => name === imports[i]);
  if (!same) requireNone(kind, ['`imports` differs from what the module imports']);
  return manifest;
}

/** The text of a file's manifest, which has been read. @throws TurncoreError as {@link readManifest} */
export function manifestText(file: Uint8Array): Uint8Array {
  readManifest(file);
  return scan(file).texts[0]!;
}

interface Sections {
  /** Manifests. */
  readonly texts: readonly Uint8Array[];
  readonly imports: readonly string[];
}

/** The sections of a module that is compiled. */
function describe(module: WebAssembly.Module): Sections {
  return {
    texts: WebAssembly.Module.customSections(module, MANIFEST_SECTION).map(
      (text) => new Uint8Array(text),
    ),
    imports: sorted(
      WebAssembly.Module.imports(module).map(({ module: from, name }) => `${from}.${name}`),
    ),
  };
}

/** Names by their UTF-16 code units, each once. */
function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

const CUSTOM = 0;
const IMPORT = 2;
const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

function scan(file: Uint8Array): Sections {
  if (HEADER.some((byte, i) => file[i] !== byte)) {
    throw TurncoreError.of('E_INVALID_MODULE', 'it is no WebAssembly');
  }
  const texts: Uint8Array[] = [];
  const imports: string[] = [];
  const r = new Reader(file.subarray(HEADER.length));
  while (r.left > 0) {
    const id = r.byte();
    const section = new Reader(r.bytes(r.uint()));
    if (id === IMPORT) readImports(section, imports);
    else if (id === CUSTOM && section.name() === MANIFEST_SECTION) {
      texts.push(section.bytes(section.left));
    }
  }
  return { texts, imports: sorted(imports) };
}

/** Kinds of imports. */
const IMPORTED = { function: 0, table: 1, memory: 2, global: 3 };

function readImports(r: Reader, names: string[]): void {
  for (let count = r.uint(); count > 0; count--) {
    const from = r.name();
    names.push(`${from}.${r.name()}`);
    const imported = r.byte();
    if (imported === IMPORTED.function) r.uint();
    else if (imported === IMPORTED.global) r.bytes(2);
    else if (imported === IMPORTED.table || imported === IMPORTED.memory) {
      if (imported === IMPORTED.table) r.byte();
      if ((r.byte() & 1) !== 0) r.uint();
      r.uint();
    } else throw malformed();
  }
  if (r.left > 0) throw malformed();
}

function malformed(): TurncoreError {
  return TurncoreError.of('E_INVALID_MODULE', 'a section is malformed');
}

/** Reads the binary format. @throws TurncoreError E_INVALID_MODULE at its end */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  byte(): number {
    return this.bytes(1)[0]!;
  }

  bytes(size: number): Uint8Array {
    if (size > this.left) throw malformed();
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  /** An unsigned number of 32 bits, in LEB128. */
  uint(): number {
    let n = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      n += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (n >= 2 ** 32) break;
        return n;
      }
    }
    throw malformed();
  }

  name(): string {
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.bytes(this.uint()));
  }
}

/** Reads the text of a manifest, as the section holds it. @throws TurncoreError E_AGENT_MANIFEST */
export function parseManifest(text: string | Uint8Array): Manifest {
  const manifest = readDocument(kind, text) as Manifest;
  requireNone(kind, repeats(manifest));
  return manifest;
}

const DEFAULT_PORT = 'has the default port of its scheme: leave it out';

/** Names that occur twice, and what else a schema cannot say. */
function repeats({ tools, asks }: Manifest): string[] {
  const list: string[] = [];
  const field = (name: string, keys: readonly string[] = []): void => {
    keys.forEach((key, i) => {
      if (keys.indexOf(key) < i) list.push(`\`${name}[${i}]\` occurs twice`);
    });
  };
  const names = (asked?: readonly Ask[]): string[] | undefined => asked?.map(({ name }) => name);
  field(
    'tools',
    tools.map(({ name }) => name),
  );
  field(
    'asks.http',
    asks.http?.map(({ origin }) => origin),
  );
  field(
    'asks.credentials',
    asks.credentials?.map(({ name, origin }) => `${name} ${origin}`),
  );
  asks.http?.forEach(({ origin }, i) => {
    if (hasDefaultPort(origin)) list.push(`\`asks.http[${i}].origin\` ${DEFAULT_PORT}`);
  });
  asks.credentials?.forEach(({ origin }, i) => {
    if (hasDefaultPort(origin)) list.push(`\`asks.credentials[${i}].origin\` ${DEFAULT_PORT}`);
  });
  field('asks.tools', names(asks.tools));
  field('asks.models', names(asks.models));
  field('asks.stores', names(asks.stores));
  return list;
}

/**
 * Compares a manifest with what the module says of itself: a JSON object with the members of a manifest without
 * `turncore` and `imports`.
 *
 * @throws TurncoreError E_AGENT_MANIFEST naming the members that differ
 */
export function requireSame(manifest: Manifest, said: string): void {
  let own: unknown;
  try {
    if (said.length <= kind.most && !isDeeper(said, 64)) own = JSON.parse(said);
  } catch {
    // It is no JSON.
  }
  if (typeof own !== 'object' || own === null || Array.isArray(own)) {
    requireNone(kind, ['what the module says of itself is no JSON object of at most 1 MiB']);
  }
  const { turncore: _, imports: __, ...written } = manifest;
  const names = [...new Set([...Object.keys(written), ...Object.keys(own as object)])].sort();
  const differing = names.filter(
    (name) =>
      !isSame(
        (written as Readonly<Record<string, unknown>>)[name],
        (own as Readonly<Record<string, unknown>>)[name],
      ),
  );
  requireNone(
    kind,
    differing.map(
      (name) => `\`${memberPath('', name)}\` differs from what the module says of itself`,
    ),
  );
}

function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every(
      (name) =>
        Object.hasOwn(b, name) &&
        isSame(
          (a as Readonly<Record<string, unknown>>)[name],
          (b as Readonly<Record<string, unknown>>)[name],
        ),
    )
  );
}

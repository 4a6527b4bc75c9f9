/**
 * Artifacts of a session.
 */
import { decodeValue } from '../codec/decoder.js';
import { invocationError } from '../session-errors.js';
import type { AddedArtifact } from '../store/appender.js';
import { collectBytes } from '../store/byte-store.js';
import { compareNames } from '../store/by-name.js';
import type { InlineData, Part } from './content.js';
import type { OpenArtifacts } from './contract.js';
import { artifactBytes, artifactPlace, type SessionKey, userScope } from './keys.js';
import { invalidMember } from './names.js';
import { encoded, type SessionStore } from './session-store.js';

/** What a store keeps beside the bytes of an artifact. */
interface ArtifactBody {
  /** Empty for a text. */
  readonly mimeType: string;
}

/** A name as events have it: lone surrogates become U+FFFD. */
function asInEvents(name: string): string {
  return name.replace(/\p{Surrogate}/gu, '\ufffd');
}

/** The artifacts of a session: those that are stored, and those that an invocation's code, or who has a handle, has saved. */
export class SessionArtifacts implements OpenArtifacts {
  readonly #store: SessionStore;
  readonly #stored: string;
  readonly #key: SessionKey;
  /** Saved parts, by the ids of their bytes. */
  readonly #saved = new Map<string, Part>();
  /** The next version of each name that was saved. */
  readonly #next = new Map<string, number>();
  /** The first version of each name that was saved and that no event has named, by scope and name in the store. */
  readonly #open = new Map<string, number>();

  constructor(store: SessionStore, stored: string, key: SessionKey) {
    this.#store = store;
    this.#stored = stored;
    this.#key = key;
  }

  async save(name: string, part: Part): Promise<number> {
    if (typeof name !== 'string' || name === '' || name === 'user:') {
      throw invalidArtifact('must have a name');
    }
    name = asInEvents(name);
    const [scope, own] = artifactPlace(this.#key, name);
    const { bytes } = partsOf(part);
    const stored = await this.#versions(scope, own);
    const version = this.#next.get(name) ?? stored;
    this.#next.set(name, version + 1);
    const place = artifactBytes(scope, own, -1);
    if (!this.#open.has(place)) this.#open.set(place, version);
    const id = artifactBytes(scope, own, version);
    await this.#store.putBytes(this.#stored, id, bytes);
    this.#saved.set(id, copyOf(part));
    return version;
  }

  async load(name: string, version?: number): Promise<Part | undefined> {
    if (typeof name !== 'string') throw invalidArtifact('must have a name');
    if (!Number.isInteger(version ?? 0)) throw invalidMember('version', 'must be an integer');
    name = asInEvents(name);
    const [scope, own] = artifactPlace(this.#key, name);
    const at = version ?? (this.#next.get(name) ?? (await this.#versions(scope, own))) - 1;
    if (at < 0) return undefined;
    const saved = this.#saved.get(artifactBytes(scope, own, at));
    if (saved !== undefined) return copyOf(saved);
    const all = await this.#store.artifacts(this.#stored, scope);
    const found = all.find((artifact) => artifact.name === own && artifact.version === at);
    if (found === undefined) return undefined;
    const reader = await this.#store.openArtifact(this.#stored, scope, own, at);
    const bytes = await collectBytes(await reader.stream());
    const { mimeType } = decodeValue(found.body) as ArtifactBody;
    const data = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes;
    if (mimeType === '') return { text: new TextDecoder().decode(data) };
    return { inlineData: { mimeType, data } };
  }

  async list(): Promise<string[]> {
    const { appName, userId } = this.#key;
    const own = await this.#store.artifacts(this.#stored, '');
    const shared = await this.#store.artifacts(this.#stored, userScope(appName, userId));
    const names = [...own.map(({ name }) => name), ...shared.map(({ name }) => `user:${name}`)];
    return [...new Set([...names, ...this.#next.keys()])].sort(compareNames);
  }

  /**
   * A version for the event that names it, behind those before it that no event has named.
   *
   * @throws TurncoreError E_INVALID_EVENT if nobody has saved it
   */
  take(scope: string, name: string, version: number): AddedArtifact[] {
    const place = artifactBytes(scope, name, -1);
    const first = this.#open.get(place);
    if (
      first === undefined ||
      version < first ||
      !this.#saved.has(artifactBytes(scope, name, version))
    ) {
      throw unsaved(scope, name, version);
    }
    this.#open.set(place, version + 1);
    return Array.from({ length: version + 1 - first }, (_, i) => {
      const bytes = artifactBytes(scope, name, first + i);
      const { mimeType } = partsOf(this.#saved.get(bytes)!);
      return { scope, name, version: first + i, bytes, body: encoded({ mimeType })! };
    });
  }

  /** The last versions of all that are stored, by name. */
  async versions(): Promise<Record<string, number>> {
    const { appName, userId } = this.#key;
    const last = new Map<string, number>();
    for (const scope of ['', userScope(appName, userId)]) {
      // They ascend.
      for (const { name, version } of await this.#store.artifacts(this.#stored, scope)) {
        last.set(scope === '' ? name : `user:${name}`, version);
      }
    }
    return Object.fromEntries(last);
  }

  /** What events have not named yet. */
  mark(): ReadonlyMap<string, number> {
    return new Map(this.#open);
  }

  /** Goes back to a mark: the event that named more was not stored. */
  reset(mark: ReadonlyMap<string, number>): void {
    for (const [place, version] of mark) this.#open.set(place, version);
  }

  async #versions(scope: string, name: string): Promise<number> {
    const all = await this.#store.artifacts(this.#stored, scope);
    return all.filter((artifact) => artifact.name === name).length;
  }
}

/** E_INVALID_EVENT of a version that nobody has saved. */
export function unsaved(scope: string, name: string, version: number): Error {
  const field = `actions.artifactDelta.${scope === '' ? '' : 'user:'}${name}`;
  return invocationError('E_INVALID_EVENT', `${field}: nobody has saved version ${version}`, {
    details: { field },
  });
}

function invalidArtifact(why: string): Error {
  return invocationError('E_INVALID_EVENT', `artifact: ${why}`, { details: { field: 'artifact' } });
}

/** A copy of a part that was saved: its saver may use the bytes for something else. */
function copyOf({ text, inlineData }: Part): Part {
  if (inlineData === undefined) return { text: text! };
  const { mimeType, data } = inlineData;
  return { inlineData: { mimeType, data: new Uint8Array(data) } };
}

/** @throws TurncoreError E_INVALID_EVENT for a part without text and bytes */
function partsOf(part: Part): ArtifactBody & { readonly bytes: Uint8Array } {
  const { text, inlineData } = Object(part) as Part;
  if (inlineData === undefined) {
    if (typeof text !== 'string') throw invalidArtifact('must be a part with text or inlineData');
    return { mimeType: '', bytes: new TextEncoder().encode(text) };
  }
  const { mimeType, data } = Object(inlineData) as Partial<InlineData>;
  if (typeof mimeType !== 'string' || !(data instanceof Uint8Array)) {
    throw invalidArtifact('inlineData must have a mimeType, a string, and data, a Uint8Array');
  }
  return { mimeType, bytes: data };
}

/**
 * Artifacts of a session.
 */
import { decodeValue } from '../codec/decoder.js';
import { collectBytes } from '../store/byte-store.js';
import type { Part } from './content.js';
import type { OpenArtifacts } from './contract.js';
import { artifactBytes, artifactPlace, type SessionKey, userScope } from './keys.js';
import { encoded, type SessionStore } from './session-service.js';

/** What a store keeps beside the bytes of an artifact. */
interface ArtifactBody {
  /** Empty for a text. */
  readonly mimeType: string;
}

/** The artifacts of an invocation's session: those that are stored, and those that its code has saved. */
export class SessionArtifacts implements OpenArtifacts {
  readonly #store: SessionStore;
  readonly #stored: string;
  readonly #key: SessionKey;
  /** Saved parts, by the ids of their bytes. */
  readonly #saved = new Map<string, Part>();
  /** The next version of each name that was saved. */
  readonly #next = new Map<string, number>();

  constructor(store: SessionStore, stored: string, key: SessionKey) {
    this.#store = store;
    this.#stored = stored;
    this.#key = key;
  }

  async save(name: string, part: Part): Promise<number> {
    const [scope, own] = artifactPlace(this.#key, name);
    const { bytes } = partsOf(part);
    const stored = await this.#versions(scope, own);
    const version = this.#next.get(name) ?? stored;
    this.#next.set(name, version + 1);
    const id = artifactBytes(scope, own, version);
    await this.#store.putBytes(this.#stored, id, bytes);
    this.#saved.set(id, part);
    return version;
  }

  async load(name: string, version?: number): Promise<Part | undefined> {
    const [scope, own] = artifactPlace(this.#key, name);
    const at = version ?? (this.#next.get(name) ?? (await this.#versions(scope, own))) - 1;
    if (at < 0) return undefined;
    const saved = this.#saved.get(artifactBytes(scope, own, at));
    if (saved !== undefined) return saved;
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
    return [...new Set([...names, ...this.#next.keys()])].sort();
  }

  /** What a store keeps beside the bytes of an id. */
  body(id: string): Uint8Array {
    const part = this.#saved.get(id);
    return encoded({ mimeType: part === undefined ? '' : partsOf(part).mimeType })!;
  }

  async #versions(scope: string, name: string): Promise<number> {
    const all = await this.#store.artifacts(this.#stored, scope);
    return all.filter((artifact) => artifact.name === name).length;
  }
}

/** @throws TypeError for a part without text and bytes */
function partsOf({ text, inlineData }: Part): ArtifactBody & { readonly bytes: Uint8Array } {
  if (inlineData !== undefined) return { mimeType: inlineData.mimeType, bytes: inlineData.data };
  if (text === undefined) throw new TypeError('an artifact is a part with text or inlineData');
  return { mimeType: '', bytes: new TextEncoder().encode(text) };
}

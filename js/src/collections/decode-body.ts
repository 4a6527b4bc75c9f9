/**
 * Records from the bodies that the module sends. The module may be anything: every field is checked.
 */
import { CodecError, decodeValue } from '../codec/decoder.js';
import { Parts } from '../primitives/body.js';
import { Identity, type RawIdentity } from '../primitives/identity.js';
import { Memory, type RawMemory } from '../primitives/memory.js';
import { Message, type RawMessage } from '../primitives/message.js';
import { Retrievable, type RawRetrievable } from '../primitives/retrievable.js';
import { Thought, type RawThought } from '../primitives/thought.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import {
  type BulkyResults,
  type RawToolCall,
  ToolCall,
  type ToolCallResults,
} from '../primitives/tool-call.js';
import { Collections, type Entry } from './kinds.js';

/**
 * Makes a record of the collection with this number from the bytes of a body.
 *
 * @param kept what the host keeps for the results of a tool call, in place of what the body has
 * @throws CodecError for bytes that are no such body
 */
export function decodeBody(collection: number, bytes: Uint8Array, kept?: BulkyResults): Entry {
  const value = decodeValue(bytes);
  if (collection === Collections.instructions) return new Tokenizable(new Fields([value]).text());
  const fields = new Fields(value);
  switch (collection) {
    case Collections.messages:
      return message(fields);
    case Collections.thoughts:
      return thought(fields);
    case Collections.toolCalls:
      return toolCall(fields, kept);
    case Collections.memories:
      return memory(fields);
    case Collections.retrievables:
      return retrievable(fields);
    default:
      throw new CodecError('frame', 0, `collection ${collection} has no records`);
  }
}

function message(f: Fields): Message {
  const values = {
    id: f.text(),
    role: f.oneOf('user', 'assistant'),
    content: tokenizable(f.optionalText()),
    identity: f.identity(),
    createdAt: f.time(),
    updatedAt: f.time(),
  };
  f.value();
  f.end();
  return new Message(new Parts(values) as unknown as RawMessage);
}

function memory(f: Fields): Memory {
  const values = {
    id: f.text(),
    content: new Tokenizable(f.text()),
    confidence: f.number(),
    importance: f.number(),
    createdAt: f.time(),
    updatedAt: f.time(),
  };
  f.end();
  return new Memory(new Parts(values) as unknown as RawMemory);
}

function thought(f: Fields): Thought {
  const values = {
    id: f.text(),
    content: new Tokenizable(f.text()),
    identity: f.identity(),
    payload: f.value(),
    replayCompatibility: f.optionalText(),
    createdAt: f.time(),
    updatedAt: f.time(),
  };
  f.end();
  return new Thought(new Parts(values) as unknown as RawThought);
}

function toolCall(f: Fields, kept: BulkyResults | undefined): ToolCall {
  const values = {
    id: f.text(),
    tool: f.text(),
    args: f.object(),
    checksum: f.text(),
    executionId: f.optionalText(),
    providerCallId: f.optionalText(),
    isComplete: f.boolean(),
    isError: f.boolean(),
    results: results(f.value(), kept),
    payload: f.value(),
    replayCompatibility: f.optionalText(),
    fromArtifactTool: f.boolean(),
    inline: f.boolean(),
    createdAt: f.time(),
    updatedAt: f.time(),
    completedAt: f.time(),
  };
  f.end();
  return new ToolCall(new Parts(values) as unknown as RawToolCall);
}

function retrievable(f: Fields): Retrievable {
  const values = {
    id: f.text(),
    content: new Tokenizable(f.text()),
    trustTier: f.oneOf('first-party', 'third-party-public', 'third-party-private'),
    source: f.optionalText(),
    kind: f.optionalText(),
    score: f.optionalNumber(),
    inline: f.boolean(),
    createdAt: f.time(),
    updatedAt: f.time(),
  };
  f.end();
  return new Retrievable(new Parts(values) as unknown as RawRetrievable);
}

/** The model is shown text: results that are not, and are not kept, are shown as JSON. */
function results(value: unknown, kept: BulkyResults | undefined): ToolCallResults {
  if (kept !== undefined) return kept;
  return new Tokenizable(typeof value === 'string' ? value : JSON.stringify(value ?? null));
}

function tokenizable(text: string | undefined): Tokenizable | undefined {
  return text === undefined ? undefined : new Tokenizable(text);
}

/** Takes a body's fields in order. */
class Fields {
  readonly #values: readonly unknown[];
  #next = 0;

  constructor(value: unknown) {
    if (!Array.isArray(value)) throw new CodecError('frame', 0, 'body of a record is not an array');
    this.#values = value as unknown[];
  }

  /** Any value; undefined for nil. */
  value(): unknown {
    if (this.#next >= this.#values.length) this.#wrong('present');
    return this.#values[this.#next++] ?? undefined;
  }

  text(): string {
    const value = this.value();
    return typeof value === 'string' ? value : this.#wrong('a string');
  }

  optionalText(): string | undefined {
    const value = this.value();
    return value === undefined || typeof value === 'string' ? value : this.#wrong('a string');
  }

  number(): number {
    const value = this.value();
    return typeof value === 'number' ? value : this.#wrong('a number');
  }

  optionalNumber(): number | undefined {
    const value = this.value();
    return value === undefined || typeof value === 'number' ? value : this.#wrong('a number');
  }

  time(): number {
    const value = this.number();
    return Math.abs(value) <= 8.64e15 ? value : this.#wrong('a time');
  }

  boolean(): boolean {
    const value = this.value();
    return typeof value === 'boolean' ? value : this.#wrong('a boolean');
  }

  object(): Record<string, unknown> {
    const value = this.value();
    if (typeof value !== 'object' || Array.isArray(value)) return this.#wrong('a map');
    return (value ?? {}) as Record<string, unknown>;
  }

  oneOf(...allowed: string[]): string {
    const value = this.text();
    return allowed.includes(value) ? value : this.#wrong(allowed.join(' or '));
  }

  identity(): Identity | undefined {
    const value = this.value();
    if (value === undefined) return undefined;
    const fields = new Fields(value);
    const identifier = fields.text();
    const representation = new Tokenizable(fields.text());
    fields.end();
    return new Identity(new Parts({ identifier, representation }) as unknown as RawIdentity);
  }

  end(): void {
    if (this.#next !== this.#values.length) this.#wrong('absent');
  }

  #wrong(what: string): never {
    throw new CodecError('frame', 0, `field ${this.#next} of a record is not ${what}`);
  }
}

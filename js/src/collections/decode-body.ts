/**
 * Makes records from the module's bodies. The module is not trusted: every field is checked.
 */
import { Collection } from '../abi/frames.gen.js';
import { valueOf, wrongFrame } from '../codec/decoder.js';
import {
  type IdentityRecord,
  type MemoryRecord,
  type MessageRecord,
  readMemory,
  readMessage,
  readRetrievable,
  readThought,
  readToolCall,
  type RetrievableRecord,
  type ThoughtRecord,
  type ToolCallRecord,
} from '../codec/tuples.gen.js';
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
import type { Entry } from './kinds.js';

/**
 * Makes a record of the collection with this number from the bytes of a body.
 *
 * @param kept the host's objects for the results of a tool call, instead of those in the body
 * @throws CodecError for invalid bytes
 */
export function decodeBody(collection: number, bytes: Uint8Array, kept?: BulkyResults): Entry {
  switch (collection) {
    case Collection.Instructions:
      return new Tokenizable(valueOf((d) => d.str(), bytes));
    case Collection.Messages:
      return message(valueOf(readMessage, bytes));
    case Collection.Thoughts:
      return thought(valueOf(readThought, bytes));
    case Collection.ToolCalls:
      return toolCall(valueOf(readToolCall, bytes), kept);
    case Collection.Memories:
      return memory(valueOf(readMemory, bytes));
    case Collection.Retrievables:
      return retrievable(valueOf(readRetrievable, bytes));
    default:
      throw wrongFrame(`unknown collection ${collection}`);
  }
}

function message(r: MessageRecord): Message {
  const values = {
    id: r.id,
    role: oneOf('role', r.role, 'user', 'assistant'),
    content: r.content === null ? undefined : new Tokenizable(r.content),
    identity: identity(r.identity),
    ...times(r),
  };
  return new Message(new Parts(values) as unknown as RawMessage);
}

function memory(r: MemoryRecord): Memory {
  const { id, confidence, importance } = r;
  const content = new Tokenizable(r.content);
  const values = { id, content, confidence, importance, ...times(r) };
  return new Memory(new Parts(values) as unknown as RawMemory);
}

function thought(r: ThoughtRecord): Thought {
  const values = {
    id: r.id,
    content: new Tokenizable(r.content),
    identity: identity(r.identity),
    payload: r.payload ?? undefined,
    replayCompatibility: r.replayCompatibility ?? undefined,
    ...times(r),
  };
  return new Thought(new Parts(values) as unknown as RawThought);
}

function toolCall(r: ToolCallRecord, kept: BulkyResults | undefined): ToolCall {
  const args = r.args ?? {};
  if (typeof args !== 'object' || Array.isArray(args) || args instanceof Uint8Array) {
    wrong('args', 'a map');
  }
  const values = {
    ...r,
    args,
    executionId: r.executionId ?? undefined,
    providerCallId: r.providerCallId ?? undefined,
    results: results(r.results, kept),
    payload: r.payload ?? undefined,
    replayCompatibility: r.replayCompatibility ?? undefined,
    ...times(r),
    completedAt: time('completedAt', r.completedAt),
  };
  return new ToolCall(new Parts(values) as unknown as RawToolCall);
}

function retrievable(r: RetrievableRecord): Retrievable {
  const { id, content, inline } = r;
  const values = {
    id,
    content: new Tokenizable(typeof content === 'string' ? content : wrong('content', 'a text')),
    trustTier: oneOf('trustTier', r.trustTier, ...TRUST_TIERS),
    source: r.source ?? undefined,
    kind: r.kind ?? undefined,
    score: r.score ?? undefined,
    inline,
    ...times(r),
  };
  return new Retrievable(new Parts(values) as unknown as RawRetrievable);
}

const TRUST_TIERS = ['first-party', 'third-party-public', 'third-party-private'];

/** The model sees text: other results that are not kept are shown as JSON. */
function results(value: unknown, kept: BulkyResults | undefined): ToolCallResults {
  if (kept !== undefined) return kept;
  return new Tokenizable(typeof value === 'string' ? value : JSON.stringify(value ?? null));
}

function identity(r: IdentityRecord | null): Identity | undefined {
  if (r === null) return undefined;
  const { identifier } = r;
  const representation = new Tokenizable(r.representation);
  return new Identity(new Parts({ identifier, representation }) as unknown as RawIdentity);
}

/** The times of a record. */
function times(r: { readonly createdAt: number; readonly updatedAt: number }): typeof r {
  return {
    createdAt: time('createdAt', r.createdAt),
    updatedAt: time('updatedAt', r.updatedAt),
  };
}

function time(field: string, value: number): number {
  return Math.abs(value) <= 8.64e15 ? value : wrong(field, 'a time');
}

function oneOf(field: string, value: string, ...allowed: readonly string[]): string {
  return allowed.includes(value) ? value : wrong(field, allowed.join(' or '));
}

function wrong(field: string, what: string): never {
  throw wrongFrame(`${field} of a record is not ${what}`);
}

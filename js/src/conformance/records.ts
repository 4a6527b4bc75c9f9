/**
 * Records that scenarios describe.
 */
import {
  type Identity,
  Memory,
  Message,
  Retrievable,
  Thought,
  Tokenizable,
  ToolCall,
} from '../index.js';
import { FIXED_INSTANT } from '../entries/host.js';
import {
  type Entry,
  type RawMemory,
  type RawMessage,
  type RawRetrievable,
  type RawThought,
  type RawToolCall,
} from '../entries/records.js';
import { part, shown } from './part.js';
import { type Fields, fields, Malformed, only, str } from './scenario.js';
import type { Stage } from './stage.js';

const common = ['id', 'content', 'createdAt', 'updatedAt'];

/** Makes the record that `{kind: id}` or `{kind: fields}` describes. */
export function newRecord(stage: Stage, spec: unknown): Entry {
  const [kind, value] = only(spec);
  if (kind === 'instruction') return new Tokenizable(str(value));
  const given = typeof value === 'string' ? { id: value } : value;
  switch (kind) {
    case 'message':
      return new Message({
        role: 'user',
        ...withAttachments(
          stage,
          base(fields(given, ...common, 'role', 'identity', 'attachments')),
        ),
      } as unknown as RawMessage);
    case 'memory':
      return new Memory({
        confidence: 0.5,
        importance: 0.5,
        ...base(fields(given, ...common, 'confidence', 'importance')),
      } as unknown as RawMemory);
    case 'thought':
      return new Thought(
        base(
          fields(given, ...common, 'identity', 'payload', 'replayCompatibility'),
        ) as unknown as RawThought,
      );
    case 'retrievable':
      return new Retrievable(
        withPart(stage, {
          trustTier: 'first-party',
          ...base(fields(given, ...common, 'trustTier', 'source', 'kind', 'score', 'inline')),
        }) as unknown as RawRetrievable,
      );
    case 'toolCall': {
      const known = ['tool', 'checksum', 'args', 'isError', 'fromArtifactTool', 'inline'];
      const { content, ...rest } = base(
        fields(given, ...common, ...known, 'payload', 'replayCompatibility'),
      );
      return new ToolCall({
        tool: 'calc',
        checksum: rest['id'],
        args: {},
        isComplete: true,
        isError: false,
        results: part(stage, content),
        completedAt: rest['createdAt'],
        ...rest,
      } as unknown as RawToolCall);
    }
    default:
      throw new Malformed(`${JSON.stringify(kind)} is no kind of record`);
  }
}

function withAttachments(stage: Stage, raw: Record<string, unknown>): Record<string, unknown> {
  const { attachments, content, ...rest } = raw;
  if (attachments === undefined) return raw;
  // An empty content of a message that has attachments is none.
  return { ...rest, ...(content === '' ? {} : { content }), attachments: part(stage, attachments) };
}

function withPart(stage: Stage, raw: Record<string, unknown>): Record<string, unknown> {
  return { ...raw, content: part(stage, raw['content']) };
}

function base(given: Fields): Record<string, unknown> {
  const id = given['id'] ?? '';
  return { content: id, createdAt: FIXED_INSTANT, updatedAt: FIXED_INSTANT, ...given, id };
}

/** What a log calls a record. */
export function idOf(record: Entry): string {
  return record instanceof Tokenizable ? String(record) : record.id;
}

/** A record's text. */
export function contentOf(record: Entry): string {
  if (record instanceof Tokenizable) return String(record);
  return shown(record instanceof ToolCall ? record.results : record.content);
}

/** What a record that was just made holds. */
export function described(record: Entry): Record<string, unknown> {
  const { id } = record as Message;
  if (record instanceof Message) {
    return {
      id,
      role: record.role,
      content: contentOf(record),
      attachments: shown(record.attachments),
    };
  }
  if (record instanceof Memory) {
    return { id, confidence: record.confidence, importance: record.importance };
  }
  if (record instanceof Thought) return { id, content: contentOf(record) };
  if (record instanceof Retrievable) {
    const { trustTier, inline } = record;
    return { id, content: contentOf(record), trustTier, inline, sizeUnknown: record.sizeUnknown };
  }
  if (record instanceof ToolCall) {
    const { args, inline, fromArtifactTool } = record;
    return { id, args, inline, fromArtifactTool };
  }
  return { content: String(record) };
}

/** The fields of a record that differ from the defaults of scenarios, but for its id and its content. */
export function special(record: Entry): Record<string, unknown> {
  if (record instanceof Tokenizable) return {};
  const { createdAt, updatedAt } = record;
  const times = { createdAt: since(createdAt), updatedAt: since(updatedAt) };
  if (record instanceof Message) {
    const { role, attachments, identity } = record;
    return fieldsBut(
      { role: 'user', attachments: '' },
      { role, attachments: shown(attachments), identity: speaker(identity, role), ...times },
    );
  }
  if (record instanceof Memory) {
    const { confidence, importance } = record;
    return fieldsBut({ confidence: 0.5, importance: 0.5 }, { confidence, importance, ...times });
  }
  if (record instanceof Thought) {
    const { identity, payload, replayCompatibility } = record;
    return fieldsBut(
      {},
      { identity: speaker(identity, 'assistant'), payload, replayCompatibility, ...times },
    );
  }
  if (record instanceof Retrievable) {
    const { trustTier, source, kind, score, inline } = record;
    return fieldsBut(
      { trustTier: 'first-party', inline: false },
      { trustTier, source, kind, score, inline, ...times },
    );
  }
  const { id, tool, args, checksum, executionId, providerCallId, isComplete, isError } = record;
  const { payload, replayCompatibility, fromArtifactTool, inline, completedAt } = record;
  return fieldsBut(
    {
      ...{ tool: 'calc', checksum: id, isComplete: true, isError: false },
      ...{ fromArtifactTool: false, inline: false },
    },
    {
      ...{ tool, args: Object.keys(args).length > 0 ? args : undefined, checksum },
      ...{ executionId, providerCallId, isComplete, isError, payload, replayCompatibility },
      ...{ fromArtifactTool, inline, ...times, completedAt: since(completedAt) },
    },
  );
}

/** The fields that are there and differ from the usual ones. */
function fieldsBut(usual: Fields, given: Fields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => value !== undefined && value !== null && value !== usual[name],
    ),
  );
}

function since(time: Date): number | undefined {
  return time.getTime() === FIXED_INSTANT ? undefined : time.getTime();
}

function speaker(identity: Identity, usual: string): unknown {
  const { identifier, representation } = identity.toJSON();
  return identifier === usual && representation === usual
    ? undefined
    : { identifier, representation };
}

/**
 * Records that the suite stores.
 */
import type { Delta, RecordName } from '../collections/deltas.js';
import type { Entry } from '../collections/kinds.js';
import { Media } from '../primitives/media.js';
import { Memory } from '../primitives/memory.js';
import { Message } from '../primitives/message.js';
import { Retrievable } from '../primitives/retrievable.js';
import { Thought } from '../primitives/thought.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import { ToolCall } from '../primitives/tool-call.js';
import { MemoryReader } from '../readers/memory-reader.js';

/** When the suite's records were created, in ms since the Unix epoch. */
export const TIME = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

/** A message. */
export function message(id: string, content = id, at = TIME): Message {
  return new Message({ id, role: 'user', content, createdAt: at, updatedAt: at });
}

/** A tool call that is done. */
export function toolCall(id: string, at = TIME): ToolCall {
  const results = new Tokenizable(`result of ${id}`);
  return new ToolCall({
    ...{ id, tool: 'work', args: { n: 1, text: 'ü' }, checksum: `sum of ${id}`, results },
    ...{ isComplete: true, isError: false, createdAt: at, completedAt: at, updatedAt: at },
  });
}

/** A record of each kind, the message with an attachment. */
export function oneOfEach(): [RecordName, Entry][] {
  const times = { createdAt: TIME, updatedAt: TIME };
  const picture = Media.userAttachment({
    ...{ id: 'picture', kind: 'image', mimeType: 'image/png', filename: 'p.png' },
    reader: new MemoryReader(Uint8Array.from([137, 80, 78, 71, 0, 255])),
  });
  return [
    ['standingInstruction', new Tokenizable('Be brief — très.')],
    [
      'memory',
      new Memory({ id: 'memory', content: 'likes tea', ...times, importance: 0.5, confidence: 1 }),
    ],
    [
      'retrievable',
      new Retrievable({
        id: 'retrievable',
        content: 'a document',
        trustTier: 'first-party',
        ...times,
      }),
    ],
    [
      'message',
      new Message({ id: 'message', role: 'user', content: '😀', attachments: [picture], ...times }),
    ],
    ['thought', new Thought({ id: 'thought', content: 'hm', ...times })],
    ['toolCall', toolCall('toolCall')],
  ];
}

/** Stores a record. */
export function store(record: Message | ToolCall): Delta {
  return { op: 'store', kind: record instanceof Message ? 'message' : 'toolCall', record };
}

/** Changes a record. */
export function mutate(record: Message | ToolCall): Delta {
  return { ...store(record), op: 'mutate' } as Delta;
}

/** Deletes a message. */
export function remove(id: string): Delta {
  return { op: 'delete', kind: 'message', id };
}

/** Changes instructions. */
export const instruction = {
  store: (text: string): Delta => ({
    op: 'store',
    kind: 'standingInstruction',
    record: new Tokenizable(text),
  }),
  mutate: (old: string, text: string): Delta => ({
    op: 'mutate',
    kind: 'standingInstruction',
    record: new Tokenizable(text),
    old,
  }),
  remove: (text: string): Delta => ({ op: 'delete', kind: 'standingInstruction', id: text }),
};

/** Replaces tool calls. */
export function replace(ids: string[], ...records: ToolCall[]): Delta {
  return { op: 'replaceToolCallGroup', kind: 'toolCall', ids, records };
}

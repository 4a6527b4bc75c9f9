import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Encoder } from '../../src/codec/encoder.js';
import { collectionNumber, type Entry, type RecordKind } from '../../src/collections/kinds.js';
import {
  Identity,
  Memory,
  Message,
  Retrievable,
  Thought,
  Tokenizable,
  ToolCall,
} from '../../src/index.js';
import { type RawMessage } from '../../src/entries/records.js';
import { encodeBody } from '../../src/primitives/body.js';
import { decodeBody } from '../../src/collections/decode-body.js';

const times = { createdAt: 1, updatedAt: 2 };
const call = {
  id: 'c',
  tool: 't',
  args: { a: [1, { b: null }] },
  checksum: 's',
  isComplete: true,
  isError: false,
  results: 'r',
  ...times,
  completedAt: 3,
};

/** What a constructor throws. */
function refusal(run: () => unknown): { code: string; message: string; details: string[] } {
  try {
    run();
  } catch (error) {
    return error as { code: string; message: string; details: string[] };
  }
  assert.fail('nothing was thrown');
}

describe('Message', () => {
  it('fills in the identity and keeps a Tokenizable', () => {
    const content = new Tokenizable('hi');
    const m = new Message({ id: 'm', role: 'user', content, ...times });
    assert.equal(m.content, content);
    assert.equal(m.identity.identifier, 'user');
    assert.equal(String(m.identity.representation), 'user');
    assert.equal(
      String(new Message({ id: 'm', role: 'user', content: 'x', ...times }).content),
      'x',
    );
  });

  it('takes times in every form', () => {
    const instant = 1767225600000;
    const forms = [
      instant,
      new Date(instant),
      '2026-01-01T00:00:00Z',
      '2026-01-01',
      { toMillis: () => instant },
    ];
    for (const createdAt of forms) {
      const m = new Message({ id: 'm', role: 'user', content: 'x', createdAt, updatedAt: 1 });
      assert.equal(m.createdAt.getTime(), instant);
    }
    for (const createdAt of ['yesterday', '1', Number.NaN, {}, true, new Date('x')]) {
      const raw = { id: 'm', role: 'user', content: 'x', createdAt, updatedAt: 1 } as RawMessage;
      assert.match(refusal(() => new Message(raw)).message, /createdAt/);
    }
  });

  it('lists every violation', () => {
    const bad = { id: '', role: 'system', extra: 1, createdAt: 'never' } as unknown as RawMessage;
    const { code, message, details } = refusal(() => new Message(bad));
    assert.equal(code, 'E_INVALID_INITIAL_MESSAGE_VALUE');
    for (const field of ['id', 'role', 'content', 'createdAt', 'updatedAt', 'extra']) {
      assert.ok(message.includes(`\`${field}\``), `${field}: ${message}`);
    }
    assert.equal(details.length, 6);
    assert.equal(refusal(() => new Message(null as never)).code, 'E_INVALID_INITIAL_MESSAGE_VALUE');
  });

  it('is immutable', () => {
    const m = new Message({ id: 'm', role: 'user', content: 'x', ...times });
    assert.throws(() => ((m as { id: string }).id = 'other'), TypeError);
    m.createdAt.setTime(99);
    assert.equal(m.createdAt.getTime(), 1);
  });
});

describe('Thought', () => {
  const thought = (more: object): Thought => new Thought({ id: 't', ...times, ...more });

  it('needs content or a payload with the name of its form', () => {
    assert.equal(thought({ content: 'x' }).identity.identifier, 'assistant');
    const withPayload = thought({ payload: { k: 1 }, replayCompatibility: 'v1' });
    assert.equal(String(withPayload.content), '');
    assert.deepEqual(withPayload.payload, { k: 1 });
    assert.equal(
      String(thought({ content: '', payload: 1, replayCompatibility: 'v' }).content),
      '',
    );
    thought({ content: 'x', replayCompatibility: 'v1' });
    thought({ content: new Tokenizable('') });
    const bad = [
      {},
      { content: '' },
      { content: '', replayCompatibility: 'v' },
      { content: '', payload: null },
      { content: 'x', payload: 1 },
      { content: 'x', payload: 1, replayCompatibility: '' },
      { content: 'x', payload: () => 1, replayCompatibility: 'v' },
    ];
    for (const more of bad) {
      const { code } = refusal(() => thought(more));
      assert.equal(code, 'E_INVALID_INITIAL_THOUGHT_VALUE', JSON.stringify(more));
    }
  });
});

describe('ToolCall', () => {
  it('takes arguments as an object or as JSON, and keeps them from changes', () => {
    const args = { a: [1] };
    const c = new ToolCall({ ...call, args });
    args.a.push(2);
    assert.deepEqual(c.args, { a: [1] });
    assert.throws(() => (c.args['a'] as number[]).push(3), TypeError);
    assert.deepEqual(new ToolCall({ ...call, args: '{"x":1}' }).args, { x: 1 });
    assert.equal(c.inline, false);
    assert.equal(c.fromArtifactTool, false);
    for (const bad of ['"text"', '[1]', '{', [1], 5]) {
      const { code } = refusal(() => new ToolCall({ ...call, args: bad as never }));
      assert.equal(code, 'E_INVALID_INITIAL_TOOL_CALL_VALUE');
    }
    const holes = new Array(2) as never;
    assert.match(refusal(() => new ToolCall({ ...call, results: holes })).message, /results/);
    assert.match(
      refusal(() => new ToolCall({ ...call, inline: 'maybe' as never })).message,
      /inline/,
    );
    assert.equal(new ToolCall({ ...call, inline: 'true' as never }).inline, true);
  });
});

describe('Memory and Retrievable', () => {
  it('keep numbers in their bounds', () => {
    const memory = { id: 'm', content: 'x', confidence: 0.5, importance: 1, ...times };
    assert.equal(new Memory(memory).confidence, 0.5);
    assert.equal(new Memory({ ...memory, confidence: '0.25' as never }).confidence, 0.25);
    const { code } = refusal(() => new Memory({ ...memory, confidence: 1.2 }));
    assert.equal(code, 'E_INVALID_INITIAL_MEMORY_VALUE');
    const raw = { id: 'r', content: 'x', trustTier: 'first-party' as const, ...times };
    assert.equal(new Retrievable(raw).inline, false);
    for (const more of [
      { trustTier: undefined },
      { trustTier: 'user-supplied' },
      { score: 1.5 },
      { score: -0.1 },
      { content: 42 },
    ]) {
      const error = refusal(() => new Retrievable({ ...raw, ...more } as never));
      assert.equal(error.code, 'E_INVALID_INITIAL_RETRIEVABLE_VALUE', JSON.stringify(more));
    }
  });
});

describe('Identity', () => {
  it('is a string, its parts, or itself', () => {
    const i = Identity.from({ identifier: 7, representation: 'Ada' });
    assert.deepEqual(i.toJSON(), { identifier: '7', representation: 'Ada' });
    assert.equal(Identity.from(i), i);
    assert.deepEqual(Identity.from('x').toJSON(), { identifier: 'x', representation: 'x' });
    const { code } = refusal(() => Identity.from({ identifier: 'x', representation: '' }));
    assert.equal(code, 'E_INVALID_INITIAL_IDENTITY_VALUE');
    const nested = { id: 'm', role: 'user' as const, content: 'x', identity: '', ...times };
    assert.match(refusal(() => new Message(nested)).message, /identity/);
  });
});

describe('bodies', () => {
  it('of every kind of record read back as they were', () => {
    const identity = { identifier: 'a', representation: 'b' };
    const records: [RecordKind, Entry][] = [
      ['messages', new Message({ id: 'm', role: 'user', content: 'ä€𝄞', identity, ...times })],
      ['messages', new Message({ id: 'm', role: 'assistant', content: 'x', ...times })],
      ['thoughts', new Thought({ id: 't', content: 'x', ...times })],
      [
        'thoughts',
        new Thought({ id: 't', payload: { k: [1.5] }, replayCompatibility: 'v', ...times }),
      ],
      ['toolCalls', new ToolCall(call)],
      ['memories', new Memory({ id: 'm', content: 'x', confidence: 1, importance: 0, ...times })],
      [
        'retrievables',
        new Retrievable({
          id: 'r',
          content: 'x',
          trustTier: 'third-party-public',
          source: 's',
          kind: 'k',
          score: 0.5,
          inline: true,
          ...times,
        }),
      ],
    ];
    for (const [kind, record] of records) {
      const enc = new Encoder();
      record[encodeBody](enc);
      const again = decodeBody(collectionNumber(kind), enc.copy());
      assert.equal(again.constructor, record.constructor);
      assert.deepEqual(JSON.parse(JSON.stringify(again)), JSON.parse(JSON.stringify(record)), kind);
    }
    const enc = new Encoder();
    new Tokenizable('text')[encodeBody](enc);
    assert.equal(JSON.stringify(decodeBody(0, enc.copy())), '"text"');
  });

  it('that are none are refused', () => {
    const bytes = (value: unknown): Uint8Array => {
      const enc = new Encoder();
      enc.value(value, 'body');
      return enc.copy();
    };
    const bad: [number, unknown][] = [
      [3, []],
      [3, ['m', 'user', 'x', null, 1, 2]],
      [3, ['m', 'system', 'x', null, 1, 2, null]],
      [3, ['m', 'user', 'x', null, 1e300, 2, null]],
      [3, ['m', 'user', 'x', null, 1, 2, null, 1]],
      [3, ['m', 'user', 'x', ['a'], 1, 2, null]],
      [0, 5],
      [1, 'text'],
      [6, []],
    ];
    for (const [collection, value] of bad) {
      assert.throws(() => decodeBody(collection, bytes(value)), { name: 'CodecError' });
    }
  });
});

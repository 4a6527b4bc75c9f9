/**
 * Values that a tool's metadata and a media's stash begin with: what cannot be kept is refused by the name of the
 * field.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { Media, MemoryReader, Tool } from '../../src/index.js';

const tool = (meta: unknown): Tool =>
  new Tool({
    name: 't',
    description: 't',
    inputSchema: { type: 'object' },
    meta: meta as Record<string, unknown>,
    handler: () => 1,
  });

const media = (stash: unknown): Media =>
  new Media({
    kind: 'image',
    mimeType: 'image/png',
    filename: 'a.png',
    reader: new MemoryReader('x'),
    trustTier: 'first-party',
    modalityHazard: 'inert',
    stash: stash as Record<string, never>,
  });

describe('the metadata of a tool', () => {
  it('names what cannot be kept', () => {
    for (const [meta, why] of [
      [{ a: { f: () => 1 } }, /meta\.a\.f: a function cannot be encoded/],
      [{ a: new Map() }, /meta\.a: a Map cannot be encoded/],
      [new Map(), /meta: a Map cannot be encoded/],
      [new Date(Number.NaN), /meta: the date is invalid/],
    ] as const) {
      assert.throws(() => tool(meta), { code: 'E_INVALID_INITIAL_TOOL_VALUE', message: why });
    }
    assert.equal(tool({ a: 1 }).meta.get('a'), 1);
  });
});

describe('the stash of a media', () => {
  it('names what cannot be kept', () => {
    for (const [stash, why] of [
      [new Map(), /stash: a Map cannot be encoded/],
      [new Date(Number.NaN), /stash: the date is invalid/],
      [{ a: { value: () => 1, trustTier: 'first-party' } }, /stash: a: value: .*a function/],
    ] as const) {
      assert.throws(() => media(stash), { code: 'E_INVALID_INITIAL_MEDIA_VALUE', message: why });
    }
    assert.deepEqual(media({}).stash.all(), {});
  });
});

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';

import { framesJSON } from '../../src/journal/json.js';

describe('frames as JSON', () => {
  it('take any bytes and are what the Go host writes: its tests have the same digest', () => {
    const digest = 'ebbd8026a053b3acb3ac7eaab9552696069aa4203dd7a77f8b7632b62e0a70b6';
    let random = 1;
    const below = (n: number): number => {
      random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
      return (random >>> 8) % n;
    };
    const all = createHash('sha256');
    for (let i = 0; i < 20_000; i++) {
      const bytes = new Uint8Array(2 + below(38));
      bytes[0] = 0x90 | below(16);
      bytes[1] = below(64);
      for (let at = 2; at < bytes.length; at++) bytes[at] = below(256);
      const text = framesJSON(bytes);
      JSON.parse(text);
      all.update(text);
    }
    assert.equal(all.digest('hex'), digest);
  });
});

/**
 * JSON that is still coming.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { PartialJSON } from '../../src/output/partial-json.js';

const texts = [
  ...['{}', '[]', '""', '0', '-1', '12.50', '1e5', '-0.1E-12', 'true', 'false', 'null', ' [ ] '],
  '{"a":1,"b":[1,2.5,-3e+7,0],"c":{"d":"x","e":true,"f":null},"g":""}',
  '[true,false,null,[[]],[{}],{"a":[{"b":{}}]}]',
  '{"key with \\"quotes\\" \\u00e9 \\\\":"a\\nb\\t\\/\\b\\f\\r\\"\\\\"}',
  '{"é":"日本 Ünder 😀","":" "}',
  '["\\u00e9","\\ud83d\\ude00","\\ud83d","\\ud83dx","\\ud83d\\n","\\ud83d\\ud83d\\ude00","\\ude00","\\ud83d\\u0041\\uD83D\\uDE00"]',
  ' { "a" : [ 1 , "b" , { } ] , "c" : 12 } ',
];

const malformed = [
  ...[
    '',
    ' ',
    '{',
    '[1',
    '[1,',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '"a',
    '"\\',
    '"\\u12',
    'tru',
  ],
  ...[
    '-',
    '1.',
    '1e',
    '1e+',
    '}',
    ']',
    ',',
    ':',
    '[1}',
    '{"a":1]',
    '[,1]',
    '[1,]',
    '{,}',
    '{"a":1,}',
  ],
  ...['{a:1}', '{"a" 1}', '{1:2}', '[1 2]', '"\\x"', '"\\u12g4"', '"\n"', '01', '-a', '1.a', '1ea'],
  ...['+1', '.5', '0x1', '1.2.3', '1e5e5', 'truE', 'nul ', '[truefalse]', '1 2', '{}{}', '"a""b"'],
  ...['nan', "'a'", '//', '"\\ud83d\\u12"', '--1', '1-', '['.repeat(61) + ']'.repeat(61)],
];

function read(text: string, size: number): PartialJSON {
  const reader = new PartialJSON();
  for (let i = 0; i < text.length; i += size) reader.write(text.slice(i, i + size));
  return reader;
}

describe('JSON that is still coming', () => {
  it('is JSON at each place, and the same however it is cut', () => {
    for (const text of texts) {
      let before = 0;
      for (let i = 0; i <= text.length; i++) {
        if (/[\ud800-\udbff]$/.test(text.slice(0, i))) continue; // no delta ends in half of a pair
        const reader = read(text.slice(0, i), 3);
        assert.equal(reader.value, read(text.slice(0, i), text.length + 1).value);
        assert.ok(!reader.failed, text);
        if (reader.value !== '') JSON.parse(reader.value);
        assert.ok(reader.bytes >= before);
        before = reader.bytes;
      }
      const whole = read(text, 1);
      whole.end();
      assert.ok(whole.complete && !whole.failed, text);
      assert.deepEqual(JSON.parse(whole.value), JSON.parse(text));
      assert.equal(whole.bytes, Buffer.byteLength(whole.value));
    }
  });

  it('fails where a text is none', () => {
    for (const text of malformed) {
      const reader = read(text, 1);
      reader.end();
      assert.ok(reader.failed, text);
      assert.throws(() => void JSON.parse(text.length > 100 ? 'x' : text), text);
      if (reader.value !== '') JSON.parse(reader.value);
    }
  });

  it('takes time as the text is long', () => {
    const piece = '"0123456789",';
    const seconds = (n: number): number => {
      const reader = new PartialJSON();
      const from = performance.now();
      reader.write('[');
      for (let i = 0; i < n; i++) reader.write(piece);
      assert.equal(reader.bytes, n * piece.length);
      return performance.now() - from;
    };
    seconds(1000);
    const few = Math.min(seconds(4000), seconds(4000), seconds(4000));
    const many = Math.min(seconds(64000), seconds(64000));
    assert.ok(many < 16 * 8 * Math.max(few, 1), `${few} ms, ${many} ms for 16 times as much`);
  });
});

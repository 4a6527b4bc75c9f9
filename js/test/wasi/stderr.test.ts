import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StderrTail } from '../../src/wasi/stderr.js';

const bytes = (s: string): Uint8Array => new TextEncoder().encode(s);

/** Writes a text in pieces of the given size, as Go's runtime does. */
function written(text: string, piece: number): StderrTail {
  const tail = new StderrTail();
  tail.collectLines();
  const all = bytes(text);
  for (let i = 0; i < all.length; i += piece) tail.write(all.subarray(i, i + piece));
  return tail;
}

describe('StderrTail', () => {
  const lines = Array.from({ length: 2000 }, (_, i) => `line ${i}`);

  it('keeps the last lines, whole', () => {
    for (const piece of [1, 7, 4096, 5000, 100_000]) {
      const text = written(lines.join('\n') + '\n', piece).text();
      assert.ok(text.length <= 4096 && text.length > 4000, String(text.length));
      assert.ok(lines.join('\n').endsWith(text));
      assert.match(text, /^line \d+\n/);
    }
  });

  it('keeps a short text as it is, and the end of one endless line', () => {
    assert.equal(written('a\nb\n', 1).text(), 'a\nb');
    assert.equal(new StderrTail().text(), '');
    assert.equal(written('x'.repeat(10_000), 100).text(), 'x'.repeat(4096));
  });

  it('keeps what Go says first when it dies, however long its trace is', () => {
    const words = ['panic: why\n\n', 'fatal error: why\n', 'runtime: out of memory: why\n'];
    for (const first of words) {
      for (const piece of [1, 7, 3000, 1 << 20]) {
        const tail = written(`some panic: earlier\n${first}${lines.join('\n')}\n`, piece);
        const text = tail.text();
        assert.ok(text.startsWith(first), text.slice(0, 60));
        assert.match(text, /\n…\nline \d+\n/);
        assert.ok(text.endsWith('line 1999'));
        assert.ok(bytes(text).length <= 4096);
      }
    }
    assert.equal(written('before\npanic: short\ntrace\n', 3).text(), 'before\npanic: short\ntrace');
  });

  it('hands out complete lines once, and cuts long ones', () => {
    for (const piece of [1, 5, 1000]) {
      const tail = written(`one\n\n${'ü'.repeat(3000)}\nrest`, piece);
      const got = tail.takeLines();
      assert.deepEqual(got.slice(0, 2), ['one', '']);
      assert.equal(got[2], 'ü'.repeat(2048));
      assert.deepEqual(tail.takeLines(), []);
      tail.write(bytes(' of it\n'));
      assert.deepEqual(tail.takeLines(), ['rest of it']);
    }
  });

  it('collects no lines that nobody asked for', () => {
    const tail = new StderrTail();
    tail.write(bytes('one\n'));
    assert.deepEqual(tail.takeLines(), []);
  });
});

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { readFrame } from '../../src/codec/tuples.gen.js';
import { framesOf } from '../../src/codec/decoder.js';
import { DEFAULT_LIMITS } from '../../src/codec/limits.js';
import { Encoder } from '../../src/codec/encoder.js';
import { loadModule, type Module } from '../../src/instance/module.js';
import { isTurncoreError } from '../../src/errors.js';
import { framesOfTurn, type JournalHeader } from '../../src/journal/format.js';
import { readJournal } from '../../src/journal/reader.js';
import { divergence, replay, type ReplayReport } from '../../src/journal/replay.js';
import { JournalWriter, MemoryJournal } from '../../src/journal/writer.js';
import { buildGuest, missingGo } from '../instance/go-guest.js';
import { startNow } from '../instance/start-now.js';

const header: JournalHeader = {
  abi: 0x20000,
  features: 15,
  module: 'native',
  engine: 'node',
  turn: 3,
};

function frame(...fields: unknown[]): Uint8Array {
  const e = new Encoder();
  e.value(fields, 'frame');
  return e.copy();
}

function concat(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

function invalid(bytes: Uint8Array, pattern: RegExp): void {
  assert.throws(
    () => {
      const { damage } = readJournal(bytes);
      if (damage !== undefined) throw damage;
    },
    (error) => isTurncoreError(error, 'E_INVALID_JOURNAL') && pattern.test(error.message),
    pattern.source,
  );
}

describe('a journal', () => {
  it('is written and read', () => {
    const sink = new MemoryJournal();
    const writer = new JournalWriter(sink, header);
    const steps: [Uint8Array, Uint8Array][] = [
      [frame(5, 3), frame(35, 3)],
      [new Uint8Array(0), frame(40, 3)],
      [new Uint8Array(70_000).fill(1), new Uint8Array(0)],
    ];
    for (const [inbound, outbound] of steps) writer.step(inbound, outbound);
    writer.step(new Uint8Array(0), new Uint8Array(0));
    const journal = readJournal(sink.bytes());
    assert.deepEqual(journal.header, header);
    assert.equal(journal.torn, false);
    assert.deepEqual(
      journal.entries.map((e) => [e.in, e.out]),
      steps,
    );
  });

  it('begins with the header that other hosts write too', () => {
    const sink = new MemoryJournal();
    new JournalWriter(sink, { ...header, turn: 1 });
    assert.equal(
      Buffer.from(sink.bytes()).toString('latin1'),
      '\x87\xa8turncore\xa7journal\xa7version\x01\xa3abi\xce\x00\x02\x00\x00\xa8features\x0f' +
        '\xa6module\xa6native\xa6engine\xa4node\xa4turn\x01',
    );
  });

  it('is read as far as it goes when it was cut off', () => {
    const sink = new MemoryJournal();
    const writer = new JournalWriter(sink, header);
    writer.step(frame(5, 3), frame(35, 3));
    const first = sink.bytes().length;
    writer.step(frame(8, 3), frame(40, 3));
    const whole = sink.bytes();
    for (let n = first + 1; n < whole.length; n++) {
      const journal = readJournal(whole.subarray(0, n));
      assert.equal(journal.torn, true);
      assert.equal(journal.entries.length, 1);
    }
  });

  it('is refused when it is none', () => {
    const sink = new MemoryJournal();
    new JournalWriter(sink, header);
    const good = sink.bytes();
    invalid(new Uint8Array(0), /the header: it breaks off/);
    invalid(frame(1), /the header: malformed/);
    invalid(Uint8Array.of(0xc0), /the header: malformed/);
    invalid(concat(good, frame(1)), /entry 0: malformed/);
    invalid(concat(good, Uint8Array.of(0xc1)), /entry 0: malformed/);
    const e = new Encoder();
    e.value({ ...header, turncore: 'journal', version: 2 }, 'v');
    invalid(e.bytes(), /the header: its format has version 2, this program reads 1/);
    e.reset();
    e.value({ ...header, turncore: 'journal' }, 'v');
    invalid(e.bytes(), /the header: its format has version 0, this program reads 1/);
    e.reset();
    e.value({ turncore: 'journal', version: 1, abi: 1 }, 'v');
    invalid(e.bytes(), /the header: malformed/);
  });

  it('holds the frames of its turn only', () => {
    const cut = (bytes: Uint8Array, turn: number): Uint8Array => {
      const offsets: number[] = [];
      const frames = framesOf(readFrame, bytes, DEFAULT_LIMITS, offsets);
      return framesOfTurn(bytes, frames, offsets, turn);
    };
    const timer = frame(39, 3, 1);
    const cancel = frame(37, 3, 1);
    const fault = frame(41, 0, 'E_X', 'x', 0);
    const welcome = frame(33, 3, 0, 0, [0, 0, 0, 0, 0, 0], [0, 0], 'b', []);
    const bytes = concat(timer, frame(39, 4, 1), cancel, welcome);
    assert.deepEqual(cut(bytes, 3), concat(timer, cancel));
    assert.deepEqual(cut(bytes, 5), new Uint8Array(0));
    // Whose frame the module refused it may not know: nobody else's is in the step.
    assert.deepEqual(cut(concat(fault, frame(41, 4, 'E_X', 'x', 0)), 3), fault);
    const own = concat(timer, cancel);
    assert.equal(cut(own, 3), own);
  });
});

const skip = (await missingGo()) ?? false;

describe('replay', { skip }, () => {
  let module: Module;

  before(async () => {
    module = loadModule(await buildGuest('./js/test/guest'));
    await module.compile();
  });

  /** A journal of a guest that echoes. */
  function recorded(outbound: Uint8Array, change?: Partial<JournalHeader>): Uint8Array {
    const sink = new MemoryJournal();
    const instance = startNow(module);
    const writer = new JournalWriter(sink, { ...header, ...change });
    writer.step(instance.hello, instance.welcome);
    writer.step(frame(5, 3, 'x'), instance.step(frame(5, 3, 'x')));
    writer.step(concat(frame(8, 3, 1), frame(8, 3, 2)), outbound);
    return sink.bytes();
  }

  const echo = concat(frame(8, 3, 1), frame(8, 3, 2));

  it('finds a journal that is the same', async () => {
    const report = await replay(recorded(echo, { module: await module.hash() }), module);
    assert.equal(report.difference, undefined);
    assert.equal(report.sameModule, true);
    assert.deepEqual([report.entries, report.frames], [3, 4]);
    assert.equal(divergence(report), undefined);
  });

  it('names the first frame that differs', async () => {
    const second = frame(8, 3, 2);
    const cases: [Uint8Array, number, number, Uint8Array | undefined, Uint8Array | undefined][] = [
      [concat(frame(8, 3, 1), frame(8, 3, 3)), 1, 3, frame(8, 3, 3), second],
      [frame(8, 3, 1), 1, 0, undefined, second],
      [concat(echo, frame(1, 3)), 2, 0, frame(1, 3), undefined],
      [new Uint8Array(0), 0, 0, undefined, frame(8, 3, 1)],
    ];
    for (const [outbound, number, byte, expected, actual] of cases) {
      const report = await replay(recorded(outbound), module);
      assert.deepEqual(report.difference, { entry: 2, frame: number, byte, expected, actual });
      assert.equal(report.entries, 2);
      const error = divergence(report);
      assert.ok(isTurncoreError(error, 'E_REPLAY_DIVERGED'));
      assert.match(
        error.message,
        /entry 2, frame \d, byte \d:\n(.*\n)? {2}recorded: .*\n {2}replayed: /,
      );
    }
  });

  it('shows what stands around the difference', () => {
    const fault = (word: string): Uint8Array =>
      frame(41, 0, '', `${'a'.repeat(5000)}the ${word}${'z'.repeat(5000)}`, 0);
    const difference = (expected: Uint8Array, actual: Uint8Array, byte: number): string =>
      divergence({ difference: { entry: 3, frame: 2, byte, expected, actual } } as ReplayReport)!
        .message;
    // The Go host says the same.
    const text = difference(fault('cat'), fault('dog'), 5011);
    const z = 'z'.repeat(117);
    assert.ok(
      text.endsWith(
        `entry 3, frame 2, byte 5011:\n  both:     …${'a'.repeat(76)}the \n` +
          `  recorded: cat${z}…\n  replayed: dog${z}…`,
      ),
      text,
    );
    // 1 in five bytes: not its shortest form.
    const cancel = Uint8Array.of(0x93, 37, 1, 0xce, 0, 0, 0, 1);
    assert.match(difference(frame(37, 1, 1), cancel, 3), /recorded: 01\n {2}replayed: ce00000001$/);
  });

  it('says when the module is another', async () => {
    const report = await replay(recorded(echo, { module: '0'.repeat(64) }), module);
    assert.equal(report.sameModule, false);
    assert.equal((await replay(recorded(echo), module)).sameModule, undefined);
  });

  it('takes a module that has more, and none that agreed to something else', async () => {
    // What the guest says to Hello, and another.
    const welcome = (change: Readonly<Record<number, unknown>>): Uint8Array => {
      const fields: unknown[] = [33, 2, 0, 15, [1 << 20, 0, 0, 0, 0, 0], [0, 0], 'test', []];
      return frame(...fields.map((field, i) => change[i] ?? field));
    };
    const replayed = (first: Uint8Array): Promise<ReplayReport> => {
      const sink = new MemoryJournal();
      new JournalWriter(sink, header).step(startNow(module).hello, first);
      return replay(sink.bytes(), module);
    };
    for (const change of [{}, { 6: 'another' }, { 7: ['openai'] }, { 6: '"', 7: ['a', '"]'] }]) {
      const { difference } = await replayed(welcome(change));
      assert.equal(difference, undefined, JSON.stringify(change));
    }
    const others = [
      { 1: 3 },
      { 2: 1 },
      { 3: 7 },
      { 4: [1 << 19, 0, 0, 0, 0, 0] },
      { 5: [1, 0] },
      { 3: 7, 6: 'another', 7: ['openai'] },
    ];
    for (const change of others) {
      const { difference } = await replayed(welcome(change));
      assert.equal(difference?.frame, 0, JSON.stringify(change));
    }
  });

  it('refuses a journal of another ABI', async () => {
    await assert.rejects(replay(recorded(echo, { abi: 0x10000 }), module), (error) =>
      isTurncoreError(error, 'E_ABI_VERSION'),
    );
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GuestExit, Wasi, WASI_FUNCTIONS } from '../../src/wasi/wasi.js';

type Call = (...args: (number | bigint)[]) => number;

const PAGE = 65536;
const SUCCESS = 0;
const BADF = 8;
const FAULT = 21;
const NOTSUP = 58;

function start(options?: ConstructorParameters<typeof Wasi>[0]): {
  wasi: Wasi;
  call: Record<string, Call>;
  view: DataView;
} {
  const wasi = new Wasi(options);
  const memory = new WebAssembly.Memory({ initial: 4 });
  wasi.bind(memory);
  return { wasi, call: wasi.imports as Record<string, Call>, view: new DataView(memory.buffer) };
}

/** A clock subscription at 1000; the event goes to 2000, the count to 3000. */
function subscribe(view: DataView, timeout: bigint, absolute = false, type = 0): void {
  view.setBigUint64(1000, 77n, true);
  view.setUint8(1008, type);
  view.setUint32(1016, 1, true);
  view.setBigUint64(1024, timeout, true);
  view.setUint16(1040, absolute ? 1 : 0, true);
}

describe('Wasi', () => {
  it('has just the functions that it names', () => {
    assert.deepEqual(Object.keys(start().call).sort(), [...WASI_FUNCTIONS.keys()].sort());
  });

  it('answers a hostile pointer with an error, and never throws', () => {
    const { call } = start();
    const far = [4 * PAGE - 1, 0x7fffffff, -1, -8];
    for (const p of far) {
      assert.equal(call['clock_time_get']!(1, 0n, p), FAULT);
      assert.equal(call['random_get']!(p, 8), FAULT);
      assert.equal(call['random_get']!(0, p < 0 ? p : 0x7fffffff), FAULT);
      assert.equal(call['fd_write']!(2, p, 1, 0), FAULT);
      assert.equal(call['fd_write']!(2, 0, 1, p), FAULT);
      assert.equal(call['fd_write']!(2, 0, -1, 0), FAULT);
      assert.equal(call['fd_fdstat_get']!(1, p), FAULT);
      assert.equal(call['args_sizes_get']!(p, 0), FAULT);
      assert.equal(call['environ_sizes_get']!(0, p), FAULT);
      assert.equal(call['poll_oneoff']!(p, 0, 1, 0), FAULT);
      assert.equal(call['poll_oneoff']!(0, p, 1, 0), FAULT);
      assert.equal(call['poll_oneoff']!(0, 0, 1, p), FAULT);
      assert.equal(call['poll_oneoff']!(0, 0, -1, 0), FAULT);
    }
  });

  it('has no files', () => {
    const { call } = start();
    assert.equal(call['fd_prestat_get']!(3, 0), BADF);
    assert.equal(call['fd_read']!(0, 0, 0, 0), BADF);
    assert.equal(call['fd_write']!(3, 0, 0, 0), BADF);
    assert.equal(call['fd_fdstat_get']!(3, 0), BADF);
    assert.equal(call['fd_fdstat_get']!(2, 100), SUCCESS);
  });

  it('has a monotonic clock that is never zero and never goes back', () => {
    let now = 0;
    const { call, view } = start({ monotonic: () => now });
    let last = 0n;
    for (const t of [0, 0, 0.0005, 5, 4, -1000, 6, 6]) {
      now = t;
      assert.equal(call['clock_time_get']!(1, 1n, 8), SUCCESS);
      const ns = view.getBigUint64(8, true);
      assert.ok(ns > 0n && ns >= last);
      last = ns;
    }
    // Half a microsecond is seen.
    now = 6.0005;
    call['clock_time_get']!(1, 1n, 8);
    assert.equal(view.getBigUint64(8, true) - last, 500n);
    call['clock_time_get']!(0, 1n, 8);
    assert.ok(Math.abs(Number(view.getBigUint64(8, true) / 1_000_000n) - Date.now()) < 10_000);
    assert.notEqual(call['clock_time_get']!(2, 1n, 8), SUCCESS);
  });

  it('fills any amount of randomness', () => {
    const { call, view } = start();
    assert.equal(call['random_get']!(16, 200_000), SUCCESS);
    const tail = new Uint8Array(view.buffer, 16 + 199_000, 1000);
    assert.ok(new Set(tail).size > 100);
    assert.equal(view.getUint32(0, true), 0);
  });

  it('refuses to sleep, but for a few short naps in a step', () => {
    const { wasi, call, view } = start({ monotonic: () => 0 });
    const poll = (): number => call['poll_oneoff']!(1000, 2000, 1, 3000);
    subscribe(view, 0n);
    assert.equal(poll(), SUCCESS);
    assert.equal(view.getUint32(3000, true), 1);
    assert.equal(view.getBigUint64(2000, true), 77n);
    subscribe(view, 1n, true);
    assert.equal(poll(), SUCCESS, 'a time that has passed');
    subscribe(view, 1_000_001n);
    assert.equal(poll(), NOTSUP);
    subscribe(view, 10_000_000_000n, true);
    assert.equal(poll(), NOTSUP);
    subscribe(view, 1_000_000n);
    for (let step = 0; step < 2; step++) {
      wasi.begin();
      let naps = 0;
      while (poll() === SUCCESS) naps++;
      assert.equal(naps, 16);
    }
    subscribe(view, 0n, false, 1);
    assert.equal(poll(), NOTSUP, 'not a clock');
    assert.notEqual(call['poll_oneoff']!(1000, 2000, 0, 3000), SUCCESS);
  });

  it('keeps what is written, takes part of what is much, and stops who never stops', () => {
    const { wasi, call, view } = start({ writeBudget: 200_000 });
    const text = new TextEncoder().encode('hello\n');
    new Uint8Array(view.buffer).set(text, 500);
    view.setUint32(100, 500, true);
    view.setUint32(104, 4, true);
    view.setUint32(108, 504, true);
    view.setUint32(112, 2, true);
    assert.equal(call['fd_write']!(2, 100, 2, 200), SUCCESS);
    assert.equal(view.getUint32(200, true), 6);
    assert.equal(wasi.stderr.text(), 'hello');
    view.setUint32(104, 150_000, true);
    assert.equal(call['fd_write']!(1, 100, 2, 200), SUCCESS);
    assert.equal(view.getUint32(200, true), 65536);
    call['fd_write']!(1, 100, 2, 200);
    call['fd_write']!(1, 100, 2, 200);
    assert.throws(() => call['fd_write']!(1, 100, 2, 200), /wrote more than 200000 bytes/);
    wasi.begin();
    assert.equal(call['fd_write']!(1, 100, 2, 200), SUCCESS);
  });

  it('has no environment and no arguments', () => {
    const { call, view } = start();
    for (const list of ['environ', 'args']) {
      view.setBigUint64(0, -1n, true);
      assert.equal(call[`${list}_sizes_get`]!(0, 4), SUCCESS);
      assert.deepEqual([view.getUint32(0, true), view.getUint32(4, true)], [0, 0]);
      assert.equal(call[`${list}_get`]!(16, 64), SUCCESS);
    }
  });

  it('stops the guest at proc_exit', () => {
    assert.throws(
      () => start().call['proc_exit']!(7),
      (error) => error instanceof GuestExit && error.exitCode === 7,
    );
  });
});

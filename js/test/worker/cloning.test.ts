/**
 * What crosses between threads, and what is refused.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { isTurncoreError, Media, MemoryReader, TurncoreError } from '../../src/index.js';
import { E_NOT_CLONEABLE } from '../../src/entries/errors.js';
import { Packer, Unpacker } from '../../src/worker/cloning.js';

const sent = new Packer();
const received = new Unpacker();

/** A value as it arrives in another thread. */
function cross(value: unknown): unknown {
  return received.unpack(structuredClone(sent.pack(value, 'value')));
}

describe('values between threads', () => {
  it('arrive as they are', () => {
    const shared = { n: 1 };
    const values: unknown[] = [
      null,
      undefined,
      true,
      0.5,
      10n,
      'text',
      new Date(5),
      /x/g,
      new Uint8Array([1, 2]),
      new Float64Array([1.5]).buffer,
      [1, [2, undefined]],
      { a: { b: [{}] }, ['__proto__']: 1 },
      Object.assign(Object.create(null) as object, { a: 1 }),
      new Map<unknown, unknown>([['k', new Set([1, { v: 2 }])]]),
      [shared, shared],
    ];
    for (const value of values) assert.deepEqual(cross(value), structuredClone(value));
    const twice = cross([shared, shared]) as object[];
    assert.equal(twice[0], twice[1]);
  });

  it('may hold themselves', () => {
    const value: { self?: unknown; list: unknown[] } = { list: [] };
    value.self = value;
    value.list.push(value);
    const there = cross(value) as typeof value;
    assert.equal(there.self, there);
    assert.equal(there.list[0], there);
  });

  it('with a JSON form cross in that form', () => {
    class Point {
      toJSON(): object {
        return { x: 1 };
      }
    }
    assert.deepEqual(cross({ at: new Point() }), { at: { x: 1 } });
    const media = Media.userAttachment({
      kind: 'image',
      mimeType: 'image/png',
      filename: 'a.png',
      id: 'm',
      reader: { stream: () => new ReadableStream(), byteLength: () => 0 },
    });
    const there = cross([media]) as { id: string; reader?: unknown }[];
    assert.equal(there[0]!.id, 'm');
    assert.equal(there[0]!.reader, undefined);
  });

  it('that cannot cross are replaced by errors that name them', () => {
    class Handle {
      readonly #n = 1;
      get n(): number {
        return this.#n;
      }
    }
    const deep: unknown[] = [];
    for (let i = 0, at = deep; i < 100_000; i++) at.push((at = []));
    const cases: Readonly<Record<string, readonly [unknown, RegExp]>> = {
      function: [() => 1, /`value\.part\[1\]` is a function/],
      symbol: [Symbol('x'), /is a symbol/],
      instance: [new Handle(), /is an instance of Handle/],
      reader: [new MemoryReader('text'), /is an instance of MemoryReader/],
      promise: [Promise.resolve(), /is an instance of Promise/],
      weak: [new WeakMap(), /is an instance of WeakMap/],
      getter: [
        {
          get bad(): number {
            throw new Error('no');
          },
        },
        /parts cannot be read: no/,
      ],
      map: [new Map([[1, () => 1]]), /is a function/],
      error: [new Set([new Error('x')]), /a collection that holds an error/],
      deep: [deep, /parts cannot be read/],
    };
    for (const [name, [value, message]] of Object.entries(cases)) {
      let there = (cross({ part: [1, value] }) as { part: unknown[] }).part[1];
      while (Array.isArray(there)) there = there[0] as unknown;
      if (name === 'getter' && !(there instanceof Error)) there = (there as { bad: unknown }).bad;
      assert.ok(there instanceof E_NOT_CLONEABLE, name);
      assert.match((there as Error).message, message, name);
      assert.equal((there as TurncoreError).fatal, true);
    }
  });

  it('that cannot cross are refused where they are given', () => {
    const packer = new Packer();
    const input = { stash: { list: [1, { f: () => 1 }] } };
    assert.throws(
      () => packer.pack(input, '', 'throw'),
      (error) =>
        isTurncoreError(error, 'E_NOT_CLONEABLE') &&
        error.message.endsWith('`stash.list[1].f` is a function') &&
        (error.details as { field: string }).field === 'stash.list[1].f',
    );
    const { port1, port2 } = new MessageChannel();
    assert.throws(() => packer.pack([port1], 'ports', 'throw'), /`ports\[0\]` is an instance of/);
    port1.close();
    port2.close();
  });

  it('are tried one by one when the platform refuses a message', () => {
    const gone = new Uint8Array(8);
    structuredClone(gone, { transfer: [gone.buffer] });
    const packed = new Packer().pack({ gone, there: new Uint8Array([7]) }, 'value', 'probe');
    const value = new Unpacker().unpack(structuredClone(packed)) as Record<string, unknown>;
    assert.ok(isTurncoreError(value['gone'], 'E_NOT_CLONEABLE'));
    assert.deepEqual(value['there'], new Uint8Array([7]));
  });
});

describe('errors between threads', () => {
  it('keep class, code, details, cause and stack', () => {
    const cause = new RangeError('too far');
    const error = TurncoreError.of('E_INVALID_TOOL_ARGS', 'x', {
      cause,
      details: { at: new Date(1), why: new TypeError('t') },
      status: 499,
      suppressed: [new Error('later')],
    });
    const there = cross(error) as TurncoreError;
    assert.ok(there instanceof TurncoreError && isTurncoreError(there, 'E_INVALID_TOOL_ARGS'));
    assert.notEqual(there, error);
    for (const name of ['name', 'code', 'message', 'status', 'fatal', 'help', 'stack'] as const) {
      assert.equal(there[name], error[name], name);
    }
    assert.ok(there.cause instanceof RangeError);
    assert.equal(there.cause.message, 'too far');
    const { at, why } = there.details as { at: Date; why: unknown };
    assert.deepEqual(at, new Date(1));
    assert.ok(why instanceof TypeError);
    assert.equal((there.suppressed[0] as Error).message, 'later');
    assert.deepEqual(Object.keys(there).sort(), Object.keys(error).sort());
  });

  it('of the language and the platform keep their class', () => {
    const classes = [
      Error,
      EvalError,
      RangeError,
      ReferenceError,
      SyntaxError,
      TypeError,
      URIError,
    ];
    for (const made of classes) {
      const there = cross(new made('m')) as Error;
      assert.equal(Object.getPrototypeOf(there), made.prototype);
      assert.equal(there.message, 'm');
    }
    const aborted = cross(new DOMException('no', 'AbortError')) as DOMException;
    assert.ok(aborted instanceof DOMException);
    assert.deepEqual([aborted.name, aborted.message], ['AbortError', 'no']);
    const many = cross(new AggregateError([new TypeError('a'), 5], 'all')) as AggregateError;
    assert.ok(many instanceof AggregateError && many.errors[0] instanceof TypeError);
    assert.deepEqual([many.message, many.errors[1]], ['all', 5]);
  });

  it('of the program keep name, code and members', () => {
    class PaymentError extends Error {
      override readonly name = 'PaymentError';
      readonly code = 'E_PAYMENT';
      readonly retry = (): void => undefined;
    }
    const there = cross(new PaymentError('no money')) as PaymentError;
    assert.ok(there instanceof Error);
    assert.deepEqual(
      [there.name, there.code, there.message],
      ['PaymentError', 'E_PAYMENT', 'no money'],
    );
    assert.ok(isTurncoreError(there.retry, 'E_NOT_CLONEABLE'));
  });

  it('arrive as one object, however often and deep they are sent', () => {
    const error = new Error('one');
    const outer = new Error('outer', { cause: error });
    const [first, second] = cross([error, { again: error }]) as [Error, { again: Error }];
    assert.equal(first, second.again);
    assert.equal((cross(outer) as Error).cause, first);
    assert.equal(cross(error), first);
  });

  it('may be their own cause, and end a long chain', () => {
    const own = new Error('own');
    own.cause = own;
    const there = cross(own) as Error;
    assert.equal(there.cause, there);
    let chain = new Error('0');
    for (let i = 1; i < 20; i++) chain = new Error(String(i), { cause: chain });
    let length = 0;
    for (let at: unknown = cross(chain); at instanceof Error; at = at.cause) length++;
    assert.equal(length, 9);
  });

  it('of any value are that value', () => {
    for (const thrown of ['text', 5, null, undefined, { code: 'x' }]) {
      assert.deepEqual(cross(thrown), thrown);
    }
  });
});

/**
 * Every code of the table that all hosts share: its class, what is known of it, and its way over the wire.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { readErrorValue, writeErrorValue } from '../src/codec/tuples.gen.js';
import { valueOf } from '../src/codec/decoder.js';
import { Encoder } from '../src/codec/encoder.js';
import * as errors from '../src/entries/errors.js';
import { TurncoreError } from '../src/index.js';
import { type ErrorClass, type ErrorCode } from '../src/entries/errors.js';
import { ErrorTable } from '../src/turn/error-table.js';

interface Row {
  readonly code?: ErrorCode;
  readonly status: number;
  readonly fatal?: boolean;
  readonly message: string;
  readonly help: string;
}

const rows = (
  JSON.parse(readFileSync(new URL('../../../abi/errors.json', import.meta.url), 'utf8')) as Row[]
).filter((row): row is Row & { code: ErrorCode } => row.code !== undefined);

/** An error as another host gets it. */
function cross(error: unknown): TurncoreError {
  const enc = new Encoder(1024);
  writeErrorValue(enc, new ErrorTable().wireOf(error, undefined));
  return new ErrorTable().decode(valueOf(readErrorValue, enc.bytes())) as TurncoreError;
}

describe('the table of errors', () => {
  it('is not empty', () => assert.ok(rows.length > 60));

  for (const row of rows) {
    it(row.code, () => {
      const exported = (errors as unknown as Record<string, ErrorClass<ErrorCode>>)[row.code]!;
      assert.equal(exported.code, row.code);
      assert.equal(exported.name, row.code);
      const cause = new TypeError('why');
      const error = new exported('the detail', { cause, details: { at: 1 } });
      const told = (e: TurncoreError): unknown => [e.code, e.status, e.fatal, e.help, e.message];
      const expected = [
        row.code,
        row.status,
        row.fatal === true,
        row.help,
        `${row.message.replace(/\.$/, '')}: the detail`,
      ];
      assert.deepEqual(told(error), expected);
      assert.equal(new exported().message, row.message);
      for (const other of rows) {
        const is =
          error instanceof
          (errors as unknown as Record<string, ErrorClass<ErrorCode>>)[other.code]!;
        assert.equal(is, other.code === row.code, other.code);
      }
      assert.ok(error instanceof TurncoreError && error instanceof Error);

      const arrived = cross(error);
      assert.notEqual(arrived, error);
      assert.deepEqual(told(arrived), expected);
      assert.ok(arrived instanceof exported);
      assert.deepEqual(arrived.details, { at: 1 });
      assert.ok(arrived.cause instanceof Error);
      assert.deepEqual([arrived.cause.name, arrived.cause.message], ['TypeError', 'why']);
    });
  }

  it('anything that is not an error of a code is none of a class', () => {
    for (const value of [undefined, null, 'E_DEADLINE', new Error('x'), { code: 'E_DEADLINE' }]) {
      assert.equal(value instanceof errors.E_DEADLINE, false);
    }
  });

  it('errors that followed go along', () => {
    const second = new TurncoreError('E_OF_THE_CALLER', 'second');
    const first = new errors.E_INPUT_PIPELINE_ERROR('first', { suppressed: [second, 'text'] });
    assert.deepEqual(
      cross(first).suppressed.map((e) => (e as Error).message),
      ['second', 'text'],
    );
  });

  it('chains of causes cross as far as eight errors', () => {
    let error: Error = new Error('0');
    for (let i = 1; i < 20; i++) error = new Error(String(i), { cause: error });
    const texts: string[] = [];
    for (let e: unknown = cross(error); e instanceof Error; e = e.cause) texts.push(e.message);
    assert.deepEqual(texts, ['19', '18', '17', '16', '15', '14', '13', '12']);
  });
});

/** An error as `abi/testdata/host-errors.json` has it. */
interface VectorError {
  readonly code?: ErrorCode;
  readonly detail?: string;
  readonly name?: string;
  readonly message?: string;
  readonly details?: unknown;
  readonly cause?: VectorError;
  readonly suppressed?: readonly VectorError[];
}

interface Vector {
  readonly name: string;
  readonly error: VectorError;
  readonly reason?: number;
  readonly hex: string;
}

/** Makes the error, and lists it with the causes below it. */
function make(v: VectorError): Error[] {
  const chain = v.cause === undefined ? [] : make(v.cause);
  const cause = chain.length === 0 ? {} : { cause: chain[0] };
  const options = {
    ...cause,
    details: v.details,
    suppressed: v.suppressed?.map((e) => make(e)[0]),
  };
  const { code, detail, name, message } = v;
  if (code !== undefined) {
    const error =
      message === undefined
        ? TurncoreError.of(code as 'E_INVALID_VALUE', detail, options)
        : new TurncoreError(code, message, options);
    return [error, ...chain];
  }
  const error = new Error(message ?? '', cause);
  if (name !== undefined) error.name = name;
  return [error, ...chain];
}

describe('errors of host code cross in the same bytes from every host', () => {
  const file = new URL('../../../abi/testdata/host-errors.json', import.meta.url);
  const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vector[];
  it('and there are vectors', () => assert.ok(vectors.length >= 10));
  for (const { name, error, reason, hex } of vectors) {
    it(name, () => {
      const chain = make(error);
      const enc = new Encoder(1024);
      const table = new ErrorTable();
      const wire = table.wireOf(chain[0], reason === undefined ? undefined : chain[reason]);
      writeErrorValue(enc, wire);
      assert.equal(Buffer.from(enc.bytes()).toString('hex'), hex);
      assert.equal(table.decode({ ...wire, handle: 1 }), chain[0]);
    });
  }
});

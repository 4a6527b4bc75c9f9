/**
 * Every code of the table that all hosts share: its class, what is known of it, and its way over the wire.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { readErrorValue, writeErrorValue } from '../src/codec/tuples.gen.js';
import { valueOf } from '../src/codec/decoder.js';
import { Encoder } from '../src/codec/encoder.js';
import * as turncore from '../src/index.js';
import { type ErrorClass, type ErrorCode, TurncoreError } from '../src/index.js';
import { ErrorTable } from '../src/pump/error-table.js';

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
      const exported = (turncore as unknown as Record<string, ErrorClass<ErrorCode>>)[row.code]!;
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
          (turncore as unknown as Record<string, ErrorClass<ErrorCode>>)[other.code]!;
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

  it('what is no error of a code is none of a class', () => {
    for (const value of [undefined, null, 'E_DEADLINE', new Error('x'), { code: 'E_DEADLINE' }]) {
      assert.equal(value instanceof turncore.E_DEADLINE, false);
    }
  });

  it('errors that followed go along', () => {
    const second = new TurncoreError('E_OF_THE_CALLER', 'second');
    const first = new turncore.E_INPUT_PIPELINE_ERROR('first', { suppressed: [second, 'text'] });
    assert.deepEqual(
      cross(first).suppressed.map((e) => (e as Error).message),
      ['second', 'text'],
    );
  });

  it('chains of causes cross as far as nine errors', () => {
    let error: Error = new Error('0');
    for (let i = 1; i < 20; i++) error = new Error(String(i), { cause: error });
    const texts: string[] = [];
    for (let e: unknown = cross(error); e instanceof Error; e = e.cause) texts.push(e.message);
    assert.deepEqual(texts, ['19', '18', '17', '16', '15', '14', '13', '12', '11']);
  });
});

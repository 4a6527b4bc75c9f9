import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import { REMEDIES } from '../src/abi/remedies.gen.js';
import { codeInfo, invalidValue, isTurncoreError, TurncoreError } from '../src/errors.js';

describe('TurncoreError', () => {
  it('takes status, fatal and help from the table, unless told otherwise', () => {
    const error = new TurncoreError('E_INVALID_TOOL_ARGS', 'bad');
    assert.equal(error.status, 422);
    assert.equal(error.fatal, false);
    assert.equal(error.help, REMEDIES.E_INVALID_TOOL_ARGS);
    const own = new TurncoreError('E_INVALID_TOOL_ARGS', 'bad', {
      status: 1,
      fatal: true,
      help: 'h',
    });
    assert.deepEqual([own.status, own.fatal, own.help], [1, true, 'h']);
    const unknown = new TurncoreError('E_OF_THE_CALLER', 'bad');
    assert.deepEqual([unknown.status, unknown.fatal, unknown.help], [500, false, undefined]);
    assert.equal(codeInfo('toString'), undefined);
  });

  it('makes messages of the code and the detail', () => {
    assert.equal(TurncoreError.of('E_INVALID_VALUE').message, 'The value is invalid.');
    assert.equal(TurncoreError.of('E_INVALID_VALUE', 'x').message, 'The value is invalid: x');
    assert.equal(invalidValue('args.a', 'no').message, 'The value is invalid: args.a: no');
  });

  it('is named by its code, in text too', () => {
    const cause = new Error('why');
    const error = new TurncoreError('E_HTTP_TRANSPORT', 'broken', { cause });
    assert.equal(error.name, 'E_HTTP_TRANSPORT');
    assert.equal(String(error), 'E_HTTP_TRANSPORT [E_HTTP_TRANSPORT]: broken');
    assert.equal(error.cause, cause);
    assert.equal('cause' in new TurncoreError('E_X', 'm'), false);
    assert.deepEqual(error.suppressed, []);
    assert.ok(error instanceof Error);
    assert.ok(!Object.keys(error).includes('name'));
  });

  it('is told by its brand, not by its class', () => {
    const error = new TurncoreError('E_X', 'm');
    assert.ok(isTurncoreError(error));
    assert.ok(isTurncoreError(error, 'E_X'));
    assert.ok(!isTurncoreError(error, 'E_Y'));
    const foreign: unknown = runInNewContext(
      "Object.assign(new Error('m'), { code: 'E_X', [Symbol.for('turncore.error')]: true })",
    );
    assert.ok(isTurncoreError(foreign, 'E_X'));
    for (const other of [new Error('m'), null, undefined, 'E_X', { code: 'E_X' }]) {
      assert.ok(!isTurncoreError(other));
    }
  });
});

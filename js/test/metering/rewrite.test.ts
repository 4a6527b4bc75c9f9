/**
 * What metering makes of a module: the same bytes as in Go.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';

import { meter, MeteringError } from '../../src/entries/metering.js';

interface Vector {
  readonly Name: string;
  readonly File: string;
  readonly Metered?: string;
  readonly Error?: string;
}

const path = '../../../../internal/metering/testdata/vectors.json';
const vectors = JSON.parse(await readFile(new URL(path, import.meta.url), 'utf8')) as Vector[];

describe('metering', () => {
  assert.ok(vectors.length > 10);
  for (const { Name, File, Metered, Error } of vectors) {
    it(Name, () => {
      const file = Buffer.from(File, 'hex');
      if (Error !== undefined) {
        assert.throws(() => meter(file), new MeteringError(Error));
        return;
      }
      const metered = meter(file);
      assert.equal(Buffer.from(metered).toString('hex'), Metered);
      assert.equal(WebAssembly.validate(metered), WebAssembly.validate(file), 'engines take it');
      assert.throws(() => meter(metered), /metered already/);
    });
  }

  it('takes what is cut off at any place as malformed', () => {
    const whole = Buffer.from(vectors.find((v) => v.Name === 'rounds')!.File, 'hex');
    let faults = 0;
    for (let n = 0; n < whole.length; n++) {
      try {
        meter(whole.subarray(0, n)); // at the end of a section
      } catch (error) {
        assert.ok(error instanceof MeteringError, String(error));
        faults++;
      }
    }
    assert.ok(faults > whole.length - 10, `${faults} of ${whole.length}`);
  });
});

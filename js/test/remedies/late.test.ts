/**
 * Remedies in a page: they arrive after the first error.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';

import { REMEDIES } from '../../src/abi/remedies.gen.js';
import { remedyFor } from '../../src/remedies/late.js';

it('the first error is told its remedy later, the others have theirs at once', async () => {
  const told = await new Promise<string>((resolve) => {
    assert.equal(remedyFor('E_INVALID_VALUE', resolve), undefined);
  });
  assert.equal(told, REMEDIES.E_INVALID_VALUE);
  const unexpected = (): never => assert.fail('it has been returned');
  assert.equal(remedyFor('E_OVERLOADED', unexpected), REMEDIES.E_OVERLOADED);
});

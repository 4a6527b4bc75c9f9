import assert from 'node:assert/strict';
import { test } from 'node:test';

import { calculate } from '../page/arithmetic.js';

const values = [
  ['1 + 2 * 3', 7],
  ['(17 + 4) * 2.5', 52.5],
  ['10 - 4 - 3', 3],
  ['100 / 10 / 2', 5],
  ['7 % 4 + 1', 4],
  ['2 ^ 3 ^ 2', 512],
  ['2 ^ -1', 0.5],
  ['-2 ^ 2', -4],
  ['--3', 3],
  ['+.5e1', 5],
  ['0.1 + 0.2', 0.3],
  ['12 × 3 ÷ 4 − 1', 8],
  ['\t( ( 1 ) )\n', 1],
];

for (const [expression, value] of values) {
  test(`${JSON.stringify(expression)} is ${value}`, () => {
    assert.equal(calculate(expression), value);
  });
}

const mistakes = [
  ['', /ends too early/],
  ['1 +', /ends too early/],
  ['(1', /ends too early/],
  ['1)', /unexpected "\)" at character 2/],
  ['1 2', /unexpected "2" at character 3/],
  ['alert(1)', /unexpected "a" at character 1/],
  ['1 / 0', /division by zero/],
  ['5 % (2 - 2)', /division by zero/],
  ['9 ^ 9 ^ 9', /too large/],
  ['('.repeat(501), /at most 500 characters/],
  ['('.repeat(500), /ends too early/],
];

for (const [expression, message] of mistakes) {
  test(`${JSON.stringify(expression.slice(0, 20))} is refused: ${message.source}`, () => {
    assert.throws(() => calculate(expression), message);
  });
}

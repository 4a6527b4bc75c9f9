import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { calculate } from '../../src/cli/arithmetic.js';

describe('calculate', () => {
  const results: Record<string, string> = {
    '1+2*3': '7',
    ' ( 2 + 3 )\t*4 ': '20',
    '10-2-3': '5',
    '16/4/2': '2',
    '--2': '2',
    '-(1-.5)': '-0.5',
    '2*-3': '-6',
    '5.': '5',
    '0.1+0.2': '0.30000000000000004',
    '-0': '0',
    '1/3*10000000': '3333333.333333333',
    '99999999999999999999999': '1e+23',
  };
  for (const [expression, want] of Object.entries(results)) {
    it(`says that ${expression} is ${want}`, () => assert.equal(calculate(expression), want));
  }

  const errors: Record<string, string> = {
    '': 'the expression ends too early',
    '1+': 'the expression ends too early',
    '(1': 'the expression ends too early',
    '1)': 'unexpected ")"',
    '2 € 3': 'unexpected "€"',
    '1 2': 'unexpected "2"',
    '1.2.3': '"1.2.3" is no number',
    '1/0': 'division by zero',
    '1/(2-2)': 'division by zero',
  };
  for (const [expression, message] of Object.entries(errors)) {
    it(`refuses "${expression}"`, () => assert.throws(() => calculate(expression), { message }));
  }

  it('refuses what is too deep, or too large', () => {
    const deep = (n: number): string => '('.repeat(n) + '1' + ')'.repeat(n);
    assert.equal(calculate(deep(100)), '1');
    assert.throws(() => calculate(deep(101)), /nest deeper than 100/);
    assert.throws(() => calculate('9'.repeat(400)), /is no number/);
    assert.throws(() => calculate(`${'9'.repeat(300)}*${'9'.repeat(300)}`), /not a finite number/);
    assert.equal(calculate('-'.repeat(100_000) + '1'), '1');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findArguments } from '../../src/simulated/arguments.js';

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'integer' },
    unit: { enum: ['celsius', 'fahrenheit'] },
    expression: { type: 'string' },
  },
};

describe('arguments of a simulated call', () => {
  const cases: [string, string][] = [
    [
      'What is the weather in Oslo for 3.5 days?',
      '{"city":"Oslo","days":3,"unit":"celsius","expression":"3.5"}',
    ],
    [
      'Weather in "New York" in Fahrenheit',
      '{"city":"New York","days":1,"unit":"fahrenheit","expression":"York"}',
    ],
    [
      'Calculate (2 + 3) * 4 please and tell me in Berlin',
      '{"city":"Berlin","days":2,"unit":"celsius","expression":"(2 + 3) * 4"}',
    ],
  ];
  for (const [text, want] of cases) {
    it(`are found in: ${text}`, () => assert.equal(findArguments(text, schema), want));
  }

  it('are none for anything that is not a schema', () => {
    for (const none of [undefined, null, 'text', [], { properties: [] }]) {
      assert.equal(findArguments('anything', none), '{}');
    }
  });

  it('leave out properties of other types', () => {
    const properties = { list: { type: 'array' }, any: true, both: { type: ['string', 'null'] } };
    assert.equal(findArguments('text', { properties }), '{}');
  });

  it('take a null that is a choice', () => {
    const properties = { unit: { enum: ['x-ray', null, 'text'] } };
    assert.equal(findArguments('text', { properties }), '{"unit":null}');
  });

  it('are found in a long text in little time', () => {
    const started = performance.now();
    const text = '('.repeat(200_000);
    findArguments(text, { properties: { expression: { type: 'string' } } });
    assert.ok(performance.now() - started < 2000);
  });
});

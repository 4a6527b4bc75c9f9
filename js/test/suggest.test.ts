/**
 * Names that are not known, and what is likely meant by them.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { createRunner, isTurncoreError, Tool } from '../src/index.js';
import { suggest } from '../src/validation/suggest.js';

interface Vector {
  readonly name: string;
  readonly known: readonly string[];
  readonly meant: string;
}

const root = new URL('../../../', import.meta.url);
const vectors = JSON.parse(
  readFileSync(new URL('abi/testdata/suggestions.json', root), 'utf8'),
) as Vector[];

/** What a call is refused with. */
function refusal(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    assert.ok(isTurncoreError(error), String(error));
    return error.details;
  }
  return assert.fail('nothing was refused');
}

describe('a name that is not known', () => {
  for (const { name, known, meant } of vectors) {
    it(`"${name}" among ${known.join(', ')}`, () => {
      assert.equal(suggest(name, known) ?? '', meant);
    });
  }

  const executor = (): void => undefined;
  const inputSchema = { type: 'object' } as const;
  const tool = { name: 't', description: 'd', inputSchema, handler: executor };

  it('of a configuration or an input is answered with the field that is meant', () => {
    assert.deepEqual(
      refusal(() => createRunner({ executor, instructions: 'x', maxSteps: 3, tool: [] } as never)),
      [
        '`instructions` is not a known field; did you mean `system`?',
        '`maxSteps` is not a known field; did you mean `bounds`?',
        '`tool` is not a known field; did you mean `tools`?',
      ],
    );
    const runner = createRunner({ executor });
    assert.deepEqual(
      refusal(() => runner.stream({ prompt: 'hi' } as never)),
      ['`prompt` is not a known field; did you mean `message`?'],
    );
    assert.deepEqual(
      refusal(() => runner.stream({ messages: [], abortSignal: undefined } as never)),
      [
        '`messages` is not a known field; did you mean `message`?',
        '`abortSignal` is not a known field; did you mean `signal`?',
      ],
    );
  });

  it('of a tool is answered in words of this kit', () => {
    const { inputSchema: parameters, handler: execute, ...rest } = tool;
    assert.deepEqual(
      refusal(() => new Tool({ ...rest, parameters, execute } as never)),
      [
        '`inputSchema` is required',
        '`handler` is required',
        '`parameters` is not a known field; did you mean `inputSchema`?',
        '`execute` is not a known field; did you mean `handler`?',
      ],
    );
  });

  it('does not keep tools that are given by name from being explained', () => {
    assert.deepEqual(
      refusal(() => createRunner({ executor, tools: { t: new Tool(tool) } } as never)),
      ['`tools` must be a list: give the values of the object, each with its own name'],
    );
  });

  it('of an event is called that', () => {
    const runner = createRunner({ executor });
    const on = (name: string): unknown => {
      try {
        return runner.on(name as never, executor);
      } catch (error) {
        return (error as Error).message;
      }
    };
    assert.equal(
      on('text'),
      'The value is invalid: unknown event name "text"; did you mean "message"?',
    );
    assert.match(
      String(on('nonsense')),
      /unknown event name "nonsense"; must be one of "message", /,
    );
    assert.match(
      String(on('error')),
      /unknown event name "error"; it is one of the observability events/,
    );
  });
});

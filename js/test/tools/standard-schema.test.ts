/**
 * Tools whose arguments a schema of another library describes and validates.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import * as z from 'zod';

import { ArtifactTool, Host, SpooledArtifact, Tool } from '../../src/index.js';
import { type ObjectSchema, type StandardSchema } from '../../src/entries/tools.js';
import { runTurn, skip, testHost } from '../turn/harness.js';

const invalidTool = (pattern: RegExp) => (error: unknown) => {
  assert.equal((error as { code: string }).code, 'E_INVALID_INITIAL_TOOL_VALUE');
  assert.match((error as Error).message, pattern);
  return true;
};

const search = z.object({ query: z.string(), limit: z.number().int().default(10) });

/** A Standard Schema by hand, as small as they get. */
function tiny<T>(
  validate: (value: unknown) => T,
  jsonSchema?: () => Record<string, unknown>,
): StandardSchema<unknown, T> {
  return {
    '~standard': {
      version: 1,
      vendor: 'tiny',
      validate: (value) => ({ value: validate(value) }),
      ...(jsonSchema === undefined ? {} : { jsonSchema: { input: jsonSchema } }),
    },
  };
}

describe('a Standard Schema', () => {
  it('describes the tool with the JSON Schema of its input', () => {
    const tool = new Tool({
      name: 'search',
      description: 'finds',
      inputSchema: search,
      handler: ({ query, limit }) => `${query} ${limit}`,
    });
    assert.equal(tool.inputSchema, search);
    const described = tool.describe().inputSchema;
    assert.equal(described.type, 'object');
    // In input mode what has a default may be left out.
    assert.deepEqual(described['required'], ['query']);
    assert.equal(Object.isFrozen(described['properties']), true);
  });

  it('that gives no JSON Schema needs one by hand', () => {
    const raw = { name: 't', description: 't', handler: () => 1 };
    const odd = z.object({ when: z.date() });
    assert.throws(
      () => new Tool({ ...raw, inputSchema: odd }),
      invalidTool(
        /inputSchema: no JSON Schema can be made of it, so `jsonSchema` is required: .*Date/,
      ),
    );
    assert.throws(
      () => new Tool({ ...raw, inputSchema: tiny((v) => v) }),
      invalidTool(/`jsonSchema` is required.*tiny gives none/),
    );
    assert.throws(
      () => new Tool({ ...raw, inputSchema: z.string() as never }),
      invalidTool(/`jsonSchema` is required.*not of type object/),
    );
    const json: ObjectSchema = { type: 'object', properties: { when: { type: 'string' } } };
    const tool = new Tool({ ...raw, inputSchema: odd, jsonSchema: json });
    assert.deepEqual(tool.describe().inputSchema, json);
    assert.throws(
      () =>
        new Tool({ ...raw, name: '', inputSchema: odd, jsonSchema: { type: 'array' } as never }),
      invalidTool(/`name`.*`inputSchema`/),
    );
  });

  it('may be a function, as some libraries make them', () => {
    const schema = Object.assign(
      () => undefined,
      tiny(
        (v) => v,
        () => ({ type: 'object' }),
      ),
    );
    const tool = new Tool({ name: 't', description: 't', inputSchema: schema, handler: () => 1 });
    assert.deepEqual(tool.describe().inputSchema, { type: 'object' });
  });

  it('validates without a module and without conversion', async () => {
    const tool = new Tool({
      name: 'search',
      description: 'finds',
      inputSchema: search,
      handler: () => 1,
    });
    assert.deepEqual(await tool.validate({ query: 'x' }), { query: 'x', limit: 10 });
    await assert.rejects(tool.validate({ query: 5, limit: '5' }), (error: unknown) => {
      const e = error as { code: string; status: number; details: unknown; message: string };
      assert.equal(e.code, 'E_INVALID_TOOL_ARGS');
      assert.equal(e.status, 422);
      assert.deepEqual(
        (e.details as { path: string }[]).map((d) => d.path),
        ['/query', '/limit'],
      );
      assert.match(e.message, /search: \/query: /);
      return true;
    });
  });
});

describe('a tool with a Standard Schema', { skip }, () => {
  it('is validated between checksum and toolExecutionStart', async () => {
    const order: string[] = [];
    const tool = new Tool({
      name: 'search',
      description: 'finds',
      inputSchema: search.transform((args) => {
        order.push('validate');
        return args;
      }),
      jsonSchema: { type: 'object' },
      handler: (args) => {
        order.push('handler');
        return args;
      },
    });
    let result: unknown;
    const { events } = await runTurn(
      async (ctx) => {
        result = await tool.executor(ctx)({ query: 'hello' });
        ctx.ack();
      },
      { tools: [tool] },
    );
    assert.deepEqual(result, { query: 'hello', limit: 10 });
    assert.deepEqual(order, ['validate', 'handler']);
    const start = events.find((e) => e.event === 'toolExecutionStart')!;
    assert.deepEqual(start?.args, { query: 'hello', limit: 10 });
    // The checksum is of the arguments as they came.
    assert.equal(start?.callId, 'e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e');
  });

  it('hands what has no encoding to its handler; observers see what came', async () => {
    class Point {
      constructor(readonly x: number) {}
    }
    const tool = new Tool({
      name: 'plot',
      description: 'plots',
      inputSchema: z.object({ x: z.number() }).transform(({ x }) => ({ at: new Point(x) })),
      handler: ({ at }) => at,
    });
    const { events } = await runTurn(async (ctx) => {
      const results = await Promise.all([1, 2, 3].map((x) => tool.executor(ctx)({ x })));
      assert.ok(results.every((r) => r instanceof Point));
      assert.deepEqual(
        results.map((r) => r.x),
        [1, 2, 3],
      );
      ctx.ack();
    });
    const starts = events.filter((e) => e.event === 'toolExecutionStart');
    assert.deepEqual(
      starts.map((e) => e.args),
      [{ x: 1 }, { x: 2 }, { x: 3 }],
    );
  });

  it('refuses arguments without events; what validation throws is passed on as it is', async () => {
    let ran = 0;
    const tool = new Tool({
      name: 't',
      description: 't',
      inputSchema: search,
      handler: () => ran++,
    });
    const down = new Error('the validator is down');
    const broken = new Tool({
      name: 'b',
      description: 'b',
      inputSchema: tiny<object>(
        () => {
          throw down;
        },
        () => ({ type: 'object' }),
      ),
      handler: () => ran++,
    });
    const { names } = await runTurn(async (ctx) => {
      await assert.rejects(tool.executor(ctx)({ query: 5 } as never), {
        code: 'E_INVALID_TOOL_ARGS',
      });
      await assert.rejects(broken.executor(ctx)({}), (error) => error === down);
      ctx.ack();
    });
    assert.equal(ran, 0);
    assert.ok(!names.some((n) => n.startsWith('x')), names.join(' '));
  });
});

describe('Tool.validate by JSON Schema', { skip }, () => {
  const tool = new Tool({
    name: 'add',
    description: 'adds',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number', default: 2 } },
      required: ['a'],
      additionalProperties: false,
    },
    handler: ({ a, b }: { a: number; b?: number }) => a + b!,
  });

  it('fills defaults in and converts nothing', async () => {
    const host = new Host(await testHost());
    assert.deepEqual(await tool.validate({ a: 1 }, host), { a: 1, b: 2 });
    await assert.rejects(tool.validate({ a: '1', c: 1 }, host), (error: unknown) => {
      const e = error as { code: string; details: { path: string; keyword: string }[] };
      assert.equal(e.code, 'E_INVALID_TOOL_ARGS');
      assert.deepEqual(
        e.details.map((d) => [d.path, d.keyword]),
        [
          ['/a', 'type'],
          ['/c', 'additionalProperties'],
        ],
      );
      return true;
    });
    await assert.rejects(tool.validate({ a: 1n << 60n }, host), /args\.a/);
    assert.deepEqual(await tool.validate({ a: 3 }, host), { a: 3, b: 2 }, 'and goes on');
  });

  it('refuses a schema that the module does not support', async () => {
    const remote = new Tool({
      name: 'r',
      description: 'r',
      inputSchema: { type: 'object', $ref: 'https://example.com/schema' },
      handler: () => 1,
    });
    await assert.rejects(remote.validate({}, await testHost()), {
      code: 'E_INVALID_INITIAL_TOOL_VALUE',
    });
  });
});

describe('artifacts and tools', () => {
  const raw = {
    name: 't',
    description: 't',
    inputSchema: { type: 'object' as const },
    handler: () => 'x',
  };

  it('the class of artifacts is asked for once, when the tool is made', () => {
    let asked = 0;
    const tool = new Tool({ ...raw, artifactConstructor: () => (asked++, SpooledArtifact) });
    assert.equal(asked, 1);
    assert.equal(tool.artifactConstructor?.(), SpooledArtifact);
  });

  it('something else than a class of artifacts is refused', () => {
    class Half {
      head(): void {
        // The others are missing.
      }
    }
    const bad: unknown[] = [
      () => Half,
      () => 5,
      () => {
        throw new Error('no');
      },
      5,
      SpooledArtifact,
    ];
    for (const artifactConstructor of bad) {
      assert.throws(
        () => new Tool({ ...raw, artifactConstructor: artifactConstructor as never }),
        invalidTool(/`artifactConstructor`/),
      );
    }
  });

  it('an ArtifactTool has none', () => {
    const tool = new ArtifactTool(raw);
    assert.ok(tool instanceof Tool);
    assert.throws(
      () => new ArtifactTool({ ...raw, artifactConstructor: () => SpooledArtifact } as never),
      invalidTool(/`artifactConstructor` is not a known field/),
    );
  });
});

/**
 * Artifacts in a turn: texts that are spooled, tools that read them, and what never enters the module.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ArtifactTool,
  type DispatchContext,
  MemoryReader,
  Retrievable,
  SpooledArtifact,
  Tokenizable,
  Tool,
  ToolCall,
} from '../../src/index.js';
import {
  type ArtifactClass,
  type SizeHints,
  type ToolCallResults,
} from '../../src/entries/records.js';
import { type SpoolReader } from '../../src/entries/stores.js';
import { type AnyTool } from '../../src/entries/tools.js';
import { codeOf, makeRun, runTurn, script, skip } from './harness.js';

const times = { createdAt: 1, updatedAt: 2 };

function toolCall(id: string, results: string | ToolCallResults, more: object = {}): ToolCall {
  return new ToolCall({
    id,
    tool: 'search',
    args: {},
    checksum: `sum-${id}`,
    isComplete: true,
    isError: false,
    results,
    ...times,
    completedAt: 3,
    ...more,
  });
}

function document(id: string, content: string | Tokenizable | SpooledArtifact, more: object = {}) {
  return new Retrievable({ id, content, trustTier: 'first-party', ...times, ...more });
}

/** Calls a tool by its name, as an executor does. */
async function call(ctx: DispatchContext, name: string, args: object): Promise<unknown> {
  const tool = ctx.tools.get(name);
  assert.ok(tool !== undefined, `${name} is registered`);
  return tool.executor(ctx)(args);
}

/** The ids that a reader tool offers. */
function offered(ctx: DispatchContext): readonly string[] {
  const { properties } = ctx.tools.get('artifact_head')!.describe().inputSchema as unknown as {
    properties: { callId: { enum: string[] } };
  };
  return properties.callId.enum;
}

const names = (ctx: DispatchContext): string[] =>
  ctx.tools
    .all()
    .map((tool) => tool.name)
    .filter((name) => name.startsWith('artifact_'));

describe('reader tools', { skip }, () => {
  it('H7, H8, H9: are there in each iteration that has artifacts, and only there', async () => {
    const seen: string[][] = [];
    const { events } = await runTurn(
      script(
        async (ctx) => {
          await ctx.storeToolCall(toolCall('c1', new SpooledArtifact(new MemoryReader('a\nb\nc'))));
        },
        () => undefined,
        () => undefined,
      ),
      {
        dispatchInputPipeline: [
          async (ctx, next) => {
            seen.push(names(ctx));
            await next();
          },
        ],
      },
    );
    assert.deepEqual(seen[0], []);
    assert.ok(seen[1]!.includes('artifact_head') && seen[1]!.includes('artifact_cat'));
    assert.deepEqual(seen[2], seen[1]);
    assert.deepEqual(seen[3], seen[1]);
    assert.ok(events.every((event) => event.event !== 'error'));
  });

  it('H10, H13, H15, H16: read by the id of a call or a document', async () => {
    const answers: unknown[] = [];
    await runTurn(
      script(
        async (ctx) => {
          const payload = new SpooledArtifact(new MemoryReader('alpha\nbeta\ngamma\nbanana'));
          await ctx.storeToolCall(toolCall('c1', payload));
          await ctx.storeToolCall(
            toolCall('c2', [payload, new SpooledArtifact(new MemoryReader('x\ny'))]),
          );
          await ctx.storeRetrievable(document('doc', 'one\ntwo'));
          await ctx.storeRetrievable(document('inl', 'three', { inline: true }));
        },
        async (ctx) => {
          const head = ctx.tools.get('artifact_head')!;
          assert.equal(head.ephemeral, true);
          assert.ok(head instanceof ArtifactTool);
          assert.deepEqual(offered(ctx), ['c1', 'c2#0', 'c2#1', 'doc']);
          answers.push(await call(ctx, 'artifact_head', { callId: 'c1', n: 2 }));
          answers.push(await call(ctx, 'artifact_tail', { callId: 'c2#1', n: 1 }));
          answers.push(await call(ctx, 'artifact_cat', { callId: 'doc', start: 1 }));
          answers.push(await call(ctx, 'artifact_line_count', { callId: 'c1' }));
          answers.push(await call(ctx, 'artifact_byte_length', { callId: 'c1' }));
          await assert.rejects(call(ctx, 'artifact_head', { callId: 'inl' }), {
            code: 'E_INVALID_TOOL_ARGS',
          });
        },
      ),
    );
    assert.deepEqual(answers, ['alpha\nbeta', 'y', 'two', '4', '23']);
  });

  it('H11: go with an ack', async () => {
    let before: string[] = [];
    let after: string[] = [];
    const artifact = new SpooledArtifact(new MemoryReader('x'));
    await runTurn(
      script(
        async (ctx) => ctx.storeToolCall(toolCall('c', artifact)),
        (ctx) => {
          before = names(ctx);
          ctx.ack();
          after = names(ctx);
        },
      ),
    );
    assert.ok(before.includes('artifact_head'));
    assert.deepEqual(after, []);
  });

  it('H12: results that come from a reader tool are not offered again', async () => {
    let ids: unknown;
    await runTurn(
      script(
        async (ctx) => {
          await ctx.storeToolCall(toolCall('data', new SpooledArtifact(new MemoryReader('x'))));
          const read = new SpooledArtifact(new MemoryReader('y'));
          await ctx.storeToolCall(toolCall('read', read, { fromArtifactTool: true }));
        },
        (ctx) => {
          ids = offered(ctx);
        },
      ),
    );
    assert.deepEqual(ids, ['data']);
  });

  it('H14: a call and a document of one id fail the dispatch before anything is written', async () => {
    const run = await runTurn(
      script(async (ctx) => {
        await ctx.storeToolCall(toolCall('same', 'text'));
        await assert.rejects(ctx.storeRetrievable(document('same', 'text')), {
          code: 'E_ARTIFACT_ID_COLLISION',
        });
      }),
    );
    assert.ok(!run.writes.includes('bytes same'), run.writes.join());
  });

  it('belong to their turn', async () => {
    let stray: AnyTool | undefined;
    const step = script(
      async (ctx) => ctx.storeToolCall(toolCall('c', new SpooledArtifact(new MemoryReader('x')))),
      (ctx) => void (stray ??= ctx.tools.get('artifact_head')),
    );
    const run = await runTurn(step);
    assert.equal(run.names.at(-1), 'tE(ack)');
    await runTurn(async (ctx) => {
      await assert.rejects(stray!.executor(ctx)({ callId: 'c' }), {
        code: 'E_INVALID_VALUE',
      });
      ctx.ack();
    });
  });

  it("a user's tool of their name stays, with a warning", async () => {
    const mine = new Tool({
      name: 'artifact_head',
      description: 'mine',
      inputSchema: { type: 'object' },
      handler: () => 'mine',
    });
    let got: unknown;
    const { names: events } = await runTurn(
      script(
        async (ctx) => ctx.storeToolCall(toolCall('c', new SpooledArtifact(new MemoryReader('x')))),
        async (ctx) => {
          got = await call(ctx, 'artifact_head', {});
        },
      ),
      { tools: [mine] },
    );
    assert.equal(got, 'mine');
    assert.equal(events.filter((name) => name === 'warn(artifact-tool-shadowed)').length, 1);
  });
});

describe('classes of artifacts', { skip }, () => {
  class Table extends SpooledArtifact {
    static override readonly className: string = 'Table';

    static override forgeTools(ctx: DispatchContext): Iterable<AnyTool> {
      assert.equal(typeof ctx.dispatchId, 'string');
      return [
        new Tool<{ row: number }>({
          name: 'artifact_table_row',
          description: 'a row of a table',
          inputSchema: { type: 'object', properties: { row: { type: 'integer' } } },
          ephemeral: true,
          handler: async ({ row }, at) => {
            for (const { results } of at.turnToolCalls) {
              if (results instanceof Table) return (await results.cat(row, row + 1))[0];
            }
            return undefined;
          },
        }),
      ];
    }
  }

  it('add tools of their own to those of every artifact', async () => {
    let row: unknown;
    let head: unknown;
    const run = await runTurn(
      script(
        async (ctx) => ctx.storeToolCall(toolCall('c', new Table(new MemoryReader('a,1\nb,2')))),
        async (ctx) => {
          row = await call(ctx, 'artifact_table_row', { row: 1 });
          head = await call(ctx, 'artifact_head', { callId: 'c', n: 1 });
        },
      ),
    );
    assert.equal(row, 'b,2');
    assert.equal(head, 'a,1');
    assert.equal(run.names.at(-1), 'tE(ack)');
  });

  it('that fail to make their tools fail the dispatch', async () => {
    class Broken extends SpooledArtifact {
      static override readonly className: string = 'Broken';
      static override forgeTools(): never {
        throw new Error('no tools');
      }
    }
    const run = await runTurn(
      script(async (ctx) => ctx.storeToolCall(toolCall('c', new Broken(new MemoryReader('a'))))),
    );
    const error = run.events.find((event) => event.event === 'error');
    assert.match(String((error as { error: Error }).error), /no tools/);
    assert.ok(run.names.includes('dE(nack,2)'), run.names.join(' '));
  });
});

describe('spooling', { skip }, () => {
  it('F14: a document that is stored holds an artifact with sizes', async () => {
    let stored: Retrievable | undefined;
    const run = await runTurn(async (ctx) => {
      const given = document('d', 'é\na');
      stored = await ctx.storeRetrievable(given);
      assert.notEqual(stored, given);
      assert.deepEqual([...ctx.turnRetrievables], [stored]);
      ctx.ack();
    });
    const content = stored!.content as SpooledArtifact;
    assert.ok(content instanceof SpooledArtifact);
    assert.equal(await content.byteLength(), 4);
    assert.equal(await content.lineCount(), 2);
    assert.deepEqual(await content.head(), ['é', 'a']);
    assert.deepEqual(run.writes, ['bytes d', 'storeRetrievable d']);
  });

  it('F15: inline, dynamic and spooled documents stay what they are', async () => {
    const spooled = new SpooledArtifact(new MemoryReader('x'));
    const given = [
      document('inline', 'x', { inline: true }),
      document('dynamic', new Tokenizable(() => 'x')),
      document('spooled', spooled),
    ];
    const run = await runTurn(async (ctx) => {
      for (const each of given) assert.equal(await ctx.storeRetrievable(each), each);
      assert.deepEqual([...ctx.turnRetrievables], given);
      ctx.ack();
    });
    assert.ok(!run.writes.some((write) => write.startsWith('bytes')), run.writes.join());
  });

  it('happens in turn middleware, in mutations and at the start of a dispatch, to the class that is wanted', async () => {
    class Note extends SpooledArtifact {
      static override readonly className: string = 'Note';
    }
    const kinds: unknown[] = [];
    const artifactConstructor = (): ArtifactClass => Note;
    const run = await runTurn(
      async (ctx) => {
        for (const { id, content } of ctx.turnRetrievables)
          kinds.push([id, (content as SpooledArtifact).kind]);
        await ctx.mutateRetrievable(document('a', 'changed'));
        const [first] = ctx.turnRetrievables;
        assert.equal(await first!.contentString(), 'changed');
        ctx.ack();
      },
      {
        turnInputPipeline: [
          async (ctx, next) => {
            const stored = await ctx.storeRetrievable(document('a', 'x', { artifactConstructor }));
            assert.ok(stored.content instanceof Note);
            ctx.turnRetrievables.add(document('b', 'y'));
            await next();
          },
        ],
        turnOutputPipeline: [
          async (ctx, next) => {
            // The turn's copies are spooled too: a second dispatch does not do it again.
            for (const { content } of ctx.turnRetrievables) {
              assert.ok(content instanceof SpooledArtifact);
            }
            await next();
          },
        ],
      },
    );
    assert.equal(
      run.names.at(-1),
      'tE(ack)',
      String(run.events.find((e) => e.event === 'error')?.error),
    );
    assert.deepEqual(kinds, [
      ['a', 'Note'],
      ['b', 'SpooledArtifact'],
    ]);
    assert.equal(run.names.at(-1), 'tE(ack)');
    assert.deepEqual(
      run.writes.filter((write) => write.startsWith('bytes')),
      ['bytes a', 'bytes b', 'bytes a'],
    );
  });

  it('fetched documents are spooled; two of one id are refused before a byte is written', async () => {
    let list: Retrievable[] = [document('d', 'one\ntwo'), document('e', 'x', { inline: true })];
    const run = await makeRun(
      async (ctx) => {
        if (list[1]!.id === 'd') {
          await assert.rejects(ctx.fetchRetrievables(), { message: 'Duplicate retrievable id: d' });
        } else {
          const [d, e] = await ctx.fetchRetrievables();
          assert.ok(d!.content instanceof SpooledArtifact);
          assert.equal(e, list[1]);
          assert.equal(ctx.turnRetrievables.size, 0);
        }
        ctx.ack();
      },
      { fetchRetrievablesCallback: (_ctx) => list },
    );
    await run.runner.run({ systemPrompt: 'x' });
    assert.deepEqual(run.writes, ['bytes d']);
    list = [list[0]!, document('d', 'y')];
    await run.runner.run({ systemPrompt: 'x' });
    assert.deepEqual(run.writes, ['bytes d']);
    assert.equal(run.names.at(-1), 'tE(ack)');
  });

  it('a conduit that gives no reader is refused by name', async () => {
    const bad = (_ctx: unknown, _id: unknown, _bytes: unknown): never => ({}) as never;
    const run = await runTurn(
      async (ctx) => {
        await assert.rejects(ctx.storeMediaBytes('m', 'x'), { code: 'E_NOT_A_MEDIA_READER' });
        await assert.rejects(ctx.storeRetrievableBytes('m', 'x'), { code: 'E_NOT_A_SPOOL_READER' });
        await assert.rejects(ctx.storeMediaBytes(1 as never, 'x'), { code: 'E_INVALID_VALUE' });
        await assert.rejects(ctx.storeRetrievable(document('d', 'x')), {
          code: 'E_NOT_A_SPOOL_READER',
        });
        ctx.ack();
      },
      { storeMediaBytesCallback: bad, storeRetrievableBytesCallback: bad },
    );
    assert.equal(run.names.at(-1), 'tE(ack)');
  });
});

describe('large artifacts', { skip }, () => {
  it('are read by lines: 200 MB cost the module nothing', async () => {
    const count = 2_000_000;
    let read = 0;
    const reader: SpoolReader = {
      line: (i) => {
        read++;
        return i < count ? `line ${String(i).padStart(94, '0')}` : undefined;
      },
      byteLength: () => count * 100 - 1,
      lineCount: () => count,
      readAll: () => assert.fail('the whole text was asked for'),
    };
    const answers: unknown[] = [];
    await runTurn(
      script(
        async (ctx) => ctx.storeToolCall(toolCall('big', new SpooledArtifact(reader))),
        async (ctx) => {
          answers.push(await call(ctx, 'artifact_head', { callId: 'big', n: 1 }));
          answers.push(await call(ctx, 'artifact_tail', { callId: 'big', n: 2 }));
          answers.push(
            await call(ctx, 'artifact_cat', { callId: 'big', start: 1_000_000, end: 1_000_001 }),
          );
          answers.push(await call(ctx, 'artifact_byte_length', { callId: 'big' }));
        },
      ),
    );
    const line = (i: number): string => `line ${String(i).padStart(94, '0')}`;
    assert.deepEqual(answers, [
      line(0),
      `${line(count - 2)}\n${line(count - 1)}`,
      line(1_000_000),
      '199999999',
    ]);
    assert.ok(read < 1000, `${read} lines were read`);
  });

  it('a reader that gives nonsense fails the tool by name', async () => {
    const bad: [Partial<Record<keyof SpoolReader, () => unknown>>, SizeHints | undefined][] = [
      [{ byteLength: () => -1 }, undefined],
      [{ lineCount: () => 'many' }, undefined],
      [{ line: () => 5 }, { byteLength: 1, lineCount: 1 }],
      [
        {
          line: () => {
            throw new Error('gone');
          },
        },
        undefined,
      ],
    ];
    for (const [broken, hints] of bad) {
      const reader = {
        line: () => 'x',
        byteLength: () => 1,
        lineCount: () => 1,
        readAll: () => 'x',
        ...broken,
      } as SpoolReader;
      let code = '';
      await runTurn(
        script(
          async (ctx) => ctx.storeToolCall(toolCall('c', new SpooledArtifact(reader, hints))),
          async (ctx) => {
            try {
              await call(ctx, 'artifact_head', { callId: 'c' });
            } catch (error) {
              code = `${codeOf(error)} ${codeOf((error as Error).cause)}`;
            }
          },
        ),
      );
      assert.match(code, /^E_TOOL_DOWNSTREAM_ERROR (E_NOT_A_SPOOL_READER|gone)$/);
    }
  });
});

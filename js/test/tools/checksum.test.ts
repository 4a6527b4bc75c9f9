/**
 * The checksums of calls: the vectors that hosts and module share.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';

import { Tool } from '../../src/index.js';
import { runTurn, skip } from '../turn/harness.js';

interface Vector {
  readonly name: string;
  readonly tool: string;
  readonly args: string;
  readonly checksum: string;
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../../abi/testdata/checksums.json', import.meta.url), 'utf8'),
) as Vector[];

it('reports and executions of calls have the shared checksums', { skip }, async () => {
  const { events } = await runTurn(async (ctx, helpers) => {
    for (const { name, tool, args } of vectors) {
      const parsed: unknown = JSON.parse(args);
      helpers.reportToolCall(name, { tool, args: parsed });
      if (typeof parsed !== 'object') continue;
      const run = new Tool({
        name: tool,
        description: 'any',
        inputSchema: { type: 'object' },
        handler: () => 1,
      });
      await run.executor(ctx)(parsed as Record<string, unknown>);
    }
    ctx.ack();
  });
  const reported = events.filter((e) => e.event === 'toolCall').map((e) => e.checksum);
  assert.deepEqual(
    reported,
    vectors.map((v) => v.checksum),
  );
  const executed = events.filter((e) => e.event === 'toolExecutionStart').map((e) => e.callId);
  assert.deepEqual(
    executed,
    vectors.filter((v) => v.args.startsWith('{')).map((v) => v.checksum),
  );
  assert.ok(vectors.length > 10);
});

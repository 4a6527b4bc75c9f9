/**
 * The checksums of calls: the vectors that hosts and module share.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';

import { Tool, toolCallChecksum } from '../../src/index.js';
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

it('the function gives the shared checksums', () => {
  for (const { name, tool, args, checksum } of vectors) {
    assert.equal(toolCallChecksum(tool, JSON.parse(args)), checksum, name);
  }
});

it('anything that is not JSON counts as the values rules say, or is refused by name', () => {
  const sum = toolCallChecksum('t', { a: 5, b: 'AAE=', c: [null], d: '\ufffd' });
  const same = {
    d: '\ud800',
    c: [undefined],
    x: undefined,
    b: Uint8Array.of(0, 1),
    a: new Date(5),
  };
  assert.equal(toolCallChecksum('t', same), sum);
  assert.equal(toolCallChecksum('t', { toJSON: () => ({}) }), toolCallChecksum('t', {}));
  assert.equal(toolCallChecksum('t', undefined), toolCallChecksum('t', null));
  const bad = (args: unknown, part: string): void =>
    assert.throws(() => toolCallChecksum('t', args), {
      code: 'E_INVALID_VALUE',
      message: new RegExp(part),
    });
  bad({ a: [1, Number.NaN] }, 'args\\.a\\[1\\]');
  bad(() => 1, 'args');
  assert.throws(() => toolCallChecksum(1 as never, {}), {
    code: 'E_INVALID_VALUE',
    message: /tool/,
  });
});

it('texts of every length have the hash that the platform gives', () => {
  for (let n = 0; n < 200; n++) {
    const text = 'ä'.repeat(n);
    const hash = createHash('sha256').update(`{"args":"${text}","tool":"t"}`).digest('hex');
    assert.equal(toolCallChecksum('t', text), hash, `${n}`);
  }
});

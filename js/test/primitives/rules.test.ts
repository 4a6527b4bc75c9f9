/**
 * The words of broken rules, which are the same in Go, here and in the module: abi/testdata/rules.json.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  Identity,
  isTurncoreError,
  Media,
  MemoryReader,
  Memory,
  Message,
  Stash,
  Retrievable,
  SpooledArtifact,
  Thought,
  Tokenizable,
  ToolCall,
} from '../../src/index.js';
import { lineOf } from '../../src/chat/model-parts.js';
import { root } from '../instance/go-guest.js';
import { makeRun, skip } from '../turn/harness.js';

interface Vector {
  readonly type: string;
  readonly name: string;
  readonly input: unknown;
  readonly violations: readonly string[];
  readonly skip?: Readonly<Record<string, string>>;
}

const file = JSON.parse(
  readFileSync(new URL('abi/testdata/rules.json', root), 'utf8'),
  (_key, value: unknown) => revive(value),
) as { skipped: Record<string, number>; vectors: Vector[] };

/** The value that an input describes. */
function revive(value: unknown): unknown {
  const special = value as { $?: string; text?: string } | null;
  switch (typeof value === 'object' ? special?.$ : undefined) {
    case 'media':
      return Media.toolGenerated({
        kind: 'image',
        mimeType: 'image/png',
        filename: 'a.png',
        reader: new MemoryReader('x'),
      });
    case 'artifact':
      return new SpooledArtifact(new MemoryReader('x'));
    case 'reader':
      return new MemoryReader('x');
    case 'text':
      return new Tokenizable(special!.text!);
    default:
      return value;
  }
}

const codes: Readonly<Record<string, string>> = {
  Message: 'E_INVALID_INITIAL_MESSAGE_VALUE',
  Memory: 'E_INVALID_INITIAL_MEMORY_VALUE',
  Thought: 'E_INVALID_INITIAL_THOUGHT_VALUE',
  ToolCall: 'E_INVALID_INITIAL_TOOL_CALL_VALUE',
  Retrievable: 'E_INVALID_INITIAL_RETRIEVABLE_VALUE',
  Identity: 'E_INVALID_INITIAL_IDENTITY_VALUE',
  Media: 'E_INVALID_INITIAL_MEDIA_VALUE',
  Stash: 'E_INVALID_INITIAL_REGISTRY_VALUE',
  SizeHints: 'E_INVALID_VALUE',
  TurnInput: 'E_INVALID_TURN_CONTEXT',
  ModelPart: 'E_MODEL_INVALID_PART',
};

/** Makes what an input is for. */
async function make(type: string, input: never): Promise<unknown> {
  switch (type) {
    case 'Message':
      return new Message(input);
    case 'Memory':
      return new Memory(input);
    case 'Thought':
      return new Thought(input);
    case 'ToolCall':
      return new ToolCall(input);
    case 'Retrievable':
      return new Retrievable(input);
    case 'Identity':
      return new Identity(input);
    case 'Media':
      return new Media(input);
    case 'Stash':
      return new Stash(input);
    case 'SizeHints':
      return new SpooledArtifact(new MemoryReader('x'), input);
    case 'TurnInput': {
      const { runner } = await makeRun((ctx) => ctx.ack());
      return runner.run(input);
    }
    case 'ModelPart':
      return lineOf(input);
    default:
      return assert.fail(`no type ${type}`);
  }
}

describe('rules', { skip }, () => {
  for (const { type, name, input, violations } of file.vectors) {
    it(`${type}: ${name}`, async () => {
      if (violations.length === 0) {
        await make(type, input as never);
        return;
      }
      const expected = violations.join('; ');
      await assert.rejects(make(type, input as never), (error) => {
        assert.ok(isTurncoreError(error, codes[type]), String(error));
        assert.ok(error.message.endsWith(`: ${expected}`), `${error.message}\n${expected}`);
        return true;
      });
    });
  }

  it('are all looked at', () => {
    assert.ok(file.vectors.length > 100);
    assert.deepEqual(
      file.vectors.filter((v) => v.skip !== undefined && 'js' in v.skip),
      [],
    );
    for (const type of Object.keys(codes)) {
      assert.ok(
        file.vectors.some((v) => v.type === type && v.violations.length > 0),
        type,
      );
    }
  });
});

/**
 * Artifacts, media and dynamic texts, outside of a turn.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type DispatchContext,
  Media,
  MemoryReader,
  Retrievable,
  SpooledArtifact,
  SpooledJsonArtifact,
  SpooledMarkdownArtifact,
  Tokenizable,
  TurncoreError,
} from '../../src/index.js';
import { isArtifactClass, type MediaKind, renderHandle } from '../../src/entries/records.js';
import { type SpoolReader } from '../../src/entries/stores.js';

const artifact = (text: string): SpooledArtifact => new SpooledArtifact(new MemoryReader(text));

/** A reader that fails the test when it is asked for anything. */
const untouched: SpoolReader = {
  line: () => assert.fail('line'),
  byteLength: () => assert.fail('byteLength'),
  lineCount: () => assert.fail('lineCount'),
  readAll: () => assert.fail('readAll'),
};

describe('SpooledArtifact', () => {
  const greek = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'];
  const five = artifact(greek.join('\n'));

  it('H1: head and tail', async () => {
    assert.deepEqual(await five.head(3), greek.slice(0, 3));
    assert.deepEqual(await five.head(), greek);
    assert.deepEqual(await five.head(100), greek);
    assert.deepEqual(await five.head(0), []);
    assert.deepEqual(await five.tail(2), ['delta', 'epsilon']);
    assert.deepEqual(await five.tail(100), greek);
    for (const n of [-1, 1.5, Number.NaN, '3' as never]) {
      await assert.rejects(five.head(n), { code: 'E_INVALID_VALUE' });
      await assert.rejects(five.tail(n), { code: 'E_INVALID_VALUE' });
    }
  });

  it('H2: grep, whatever state the expression is in', async () => {
    assert.deepEqual(await five.grep(/a$/), ['alpha', 'beta', 'gamma', 'delta']);
    assert.deepEqual(await five.grep(/^omega$/), []);
    assert.deepEqual(await five.grep(/ALPHA/i), ['alpha']);
    const global = /a/g;
    global.lastIndex = 4;
    assert.deepEqual(await five.grep(global), ['alpha', 'beta', 'gamma', 'delta']);
    assert.equal(global.lastIndex, 4);
    assert.deepEqual(await five.grep(/a/y), ['alpha']);
    await assert.rejects(five.grep('a' as never), { code: 'E_INVALID_VALUE' });
  });

  it('H3: cat', async () => {
    assert.deepEqual(await five.cat(1, 4), ['beta', 'gamma', 'delta']);
    assert.deepEqual(await five.cat(-5, 2), ['alpha', 'beta']);
    assert.deepEqual(await five.cat(3, 100), ['delta', 'epsilon']);
    assert.deepEqual(await five.cat(2, -1), []);
    assert.deepEqual(await five.cat(), greek);
    await assert.rejects(five.cat(0.5), { code: 'E_INVALID_VALUE' });
  });

  it('H4: the text is as it was written', async () => {
    for (const text of ['a\nb\nc\n', 'a\r\nb\r\n', '\ufeffx', '']) {
      assert.equal(await artifact(text).asString(), text);
    }
  });

  it('H5: hints stand for what the reader would say', async () => {
    const hinted = new SpooledArtifact(untouched, { byteLength: 99, lineCount: 7 });
    assert.equal(await hinted.byteLength(), 99);
    assert.equal(await hinted.lineCount(), 7);
    assert.equal(hinted.hasSizeHints(), true);
    const handle = {
      id: 'c1',
      kind: 'SpooledArtifact',
      byteLength: 99,
      lineCount: 7,
      tools: SpooledArtifact.readerTools,
    };
    assert.equal(
      hinted.estimateHandleTokens('c1', 'claude'),
      Math.ceil(renderHandle(handle).length / 3.5),
    );
    assert.equal(
      hinted.estimateHandleTokens('c1', 'claude', () => 'x'.repeat(35)),
      10,
    );
    assert.equal(five.hasSizeHints(), false);
    assert.throws(() => five.estimateHandleTokens('c1', 'claude'), /size hints/);
    assert.equal(
      JSON.stringify(hinted),
      '{"artifact":"SpooledArtifact","byteLength":99,"lineCount":7}',
    );
  });

  it('H6: a reader is needed', () => {
    for (const reader of [undefined, null, {}, 'text', { line: () => 'x' }]) {
      assert.throws(() => new SpooledArtifact(reader as never), { code: 'E_NOT_A_SPOOL_READER' });
    }
  });

  it('estimates by its text, without holding it', async () => {
    assert.equal(await artifact('a'.repeat(35)).estimateTokens('claude'), 10);
    assert.equal(await artifact('ab\ncd\n').estimateTokens('other'), Math.ceil(6 / 4));
    assert.equal(await artifact('').estimateTokens('other'), 0);
    const reader = { ...untouched, line: (i: number) => (i < 3 ? 'abc' : undefined) };
    assert.equal(await new SpooledArtifact(reader).estimateTokens('x'), Math.ceil(11 / 4));
    await assert.rejects(five.estimateTokens(''), { code: 'E_INVALID_VALUE' });
  });

  it('has kinds, named by their classes', () => {
    const reader = new MemoryReader('x');
    assert.equal(new SpooledJsonArtifact(reader, undefined, 'jsonl').form, 'jsonl');
    assert.equal(new SpooledJsonArtifact(reader).kind, 'SpooledJsonArtifact');
    assert.equal(new SpooledMarkdownArtifact(reader).kind, 'SpooledMarkdownArtifact');
    assert.throws(() => new SpooledJsonArtifact(reader, undefined, 'xml' as never), {
      code: 'E_INVALID_VALUE',
    });
    class Mine extends SpooledJsonArtifact {}
    assert.equal(new Mine(reader).kind, 'Mine');
    assert.ok(isArtifactClass(Mine) && isArtifactClass(SpooledArtifact) && !isArtifactClass(Map));
    assert.deepEqual([...Mine.forgeTools({} as unknown as DispatchContext)], []);
  });
});

describe('Retrievable', () => {
  const times = { createdAt: 1, updatedAt: 2 };
  const hinted = new SpooledArtifact(untouched, { byteLength: 9, lineCount: 1 });
  const doc = (content: string | SpooledArtifact, inline = false): Retrievable =>
    new Retrievable({ id: 'r', content, trustTier: 'first-party', inline, ...times });

  it('F13: knows when its size is unknown', () => {
    assert.equal(doc(artifact('x')).sizeUnknown, true);
    assert.equal(doc(artifact('x'), true).sizeUnknown, false);
    assert.equal(doc(hinted).sizeUnknown, false);
    assert.equal(doc(hinted, true).sizeUnknown, false);
    assert.equal(doc('text').sizeUnknown, false);
  });

  it('gives its text and its tokens', async () => {
    assert.equal(await doc('text').contentString(), 'text');
    assert.equal(await doc(artifact('a\nb')).contentString(), 'a\nb');
    assert.equal(doc('a'.repeat(35)).estimateTokens('claude'), 10);
    assert.equal(doc(hinted).estimateTokens('claude'), hinted.estimateHandleTokens('r', 'claude'));
    assert.equal(await doc(artifact('a'.repeat(35)), true).estimateTokens('claude'), 10);
    assert.equal(await doc(artifact('a'.repeat(35))).estimateTokens('claude'), 10);
  });

  it('F12: takes dates in all forms', () => {
    const when = Date.parse('2026-01-01T00:00:00Z');
    for (const createdAt of [when, new Date(when), '2026-01-01T00:00:00Z']) {
      const r = new Retrievable({
        id: 'r',
        content: 'x',
        trustTier: 'first-party',
        createdAt,
        updatedAt: 1,
      });
      assert.equal(r.createdAt.getTime(), when);
    }
  });
});

describe('Media', () => {
  const parts = (kind: MediaKind) => ({
    kind,
    mimeType: 'x/y',
    filename: 'f',
    reader: new MemoryReader('hello'),
  });

  it('F18: factories know the tier, and the hazard of each kind', () => {
    const tiers = {
      userAttachment: 'third-party-private',
      toolGenerated: 'first-party',
      retrievedPublic: 'third-party-public',
      retrievedPrivate: 'third-party-private',
    } as const;
    for (const [factory, tier] of Object.entries(tiers) as [keyof typeof tiers, string][]) {
      for (const kind of ['image', 'audio', 'video', 'document'] as const) {
        const media = Media[factory](parts(kind));
        assert.equal(media.trustTier, tier);
        const hazard = kind === 'document' ? 'extractable-instructions' : 'opaque-perceptual';
        assert.equal(media.modalityHazard, hazard);
        assert.match(media.id, /^[0-9a-f]{8}-[0-9a-f]{4}-6/);
      }
      assert.equal(
        Media[factory]({ ...parts('image'), modalityHazard: 'inert' }).modalityHazard,
        'inert',
      );
      assert.throws(() => Media[factory](undefined as never), {
        code: 'E_INVALID_INITIAL_MEDIA_VALUE',
      });
    }
  });

  it('F19: shows itself without its reader', () => {
    const reader = { stream: () => assert.fail('stream'), byteLength: () => assert.fail('length') };
    const media = new Media({
      ...parts('image'),
      id: 'm',
      reader,
      trustTier: 'first-party',
      modalityHazard: 'inert',
      stash: { caption: { value: 'a cat', trustTier: 'first-party' } },
    });
    assert.deepEqual(JSON.parse(JSON.stringify(media)), {
      id: 'm',
      kind: 'image',
      mimeType: 'x/y',
      filename: 'f',
      trustTier: 'first-party',
      modalityHazard: 'inert',
      stash: { caption: { value: 'a cat', trustTier: 'first-party' } },
    });
    media.stash.set('alt', { value: 'cat', trustTier: 'first-party', derivedFromMedia: true });
    assert.equal(media.stash.get('alt.value'), 'cat');
  });

  it('gives its bytes again and again', async () => {
    const media = Media.toolGenerated(parts('audio'));
    assert.equal(Buffer.from(await media.asBytes()).toString(), 'hello');
    assert.equal(await media.asBase64(), Buffer.from('hello').toString('base64'));
    assert.equal(await new Response((await media.stream()) as never).text(), 'hello');
    assert.equal(await media.byteLength(), 5);
    const large = Uint8Array.from({ length: 100_001 }, (_, i) => i & 255);
    const big = Media.toolGenerated({ ...parts('video'), reader: new MemoryReader(large) });
    assert.equal(await big.asBase64(), Buffer.from(large).toString('base64'));
  });
});

describe('Tokenizable', () => {
  const context = (tools: string[]): DispatchContext =>
    ({ tools: { has: (name: string) => tools.includes(name) } }) as unknown as DispatchContext;
  const dynamic = (): { text: Tokenizable; runs: () => number } => {
    let runs = 0;
    const text = new Tokenizable((ctx) => {
      runs++;
      return ctx?.tools.has('lookup') === true ? 'short' : 'a much longer text than that';
    });
    return { text, runs: () => runs };
  };

  it('G1: claude has 3.5 UTF-16 units a token, others have 4', () => {
    assert.equal(new Tokenizable('a'.repeat(35)).estimateTokens('claude'), 10);
    assert.equal(new Tokenizable('a'.repeat(36)).estimateTokens('claude'), 11);
    assert.equal(new Tokenizable('hello world').estimateTokens('unknown'), 3);
    assert.equal(new Tokenizable('').estimateTokens('unknown'), 0);
    for (const encoding of ['', 5 as never]) {
      assert.throws(() => new Tokenizable('x').estimateTokens(encoding), {
        code: 'E_INVALID_VALUE',
      });
    }
  });

  it('G2: text that looks like a control token is text', () => {
    const text = new Tokenizable('docs about <|endoftext|> token');
    for (const encoding of [
      'gpt2',
      'r50k_base',
      'p50k_base',
      'p50k_edit',
      'cl100k_base',
      'o200k_base',
    ]) {
      assert.ok(text.estimateTokens(encoding) > 0);
    }
  });

  it('G3, G4: a dynamic one is counted as it reads for each context, once', () => {
    const { text, runs } = dynamic();
    const ctx = context(['lookup']);
    assert.equal(text.dynamic, true);
    assert.equal(text.estimateTokens('claude', ctx), 2);
    assert.equal(text.estimateTokens('claude', ctx), 2);
    assert.equal(runs(), 1);
    assert.equal(text.estimateTokens('claude'), 8);
    assert.equal(text.estimateTokens('claude'), 8);
    assert.equal(runs(), 2);
    assert.equal(text.estimateTokens('claude', context([])), 8);
    assert.equal(text.estimateTokens('other', ctx), 2);
    assert.equal(runs(), 4);
    assert.equal(text.render(ctx), 'short');
    assert.equal(text.toString(), 'a much longer text than that');
    assert.equal(JSON.stringify(text), '"a much longer text than that"');
  });

  it('G5: a function that fails is named on every read', () => {
    const cause = new Error('no data');
    const bad = [
      () => {
        throw cause;
      },
      () => 42 as never,
      () => null as never,
      () => Promise.resolve('later') as never,
    ];
    for (const evaluator of bad) {
      const text = new Tokenizable(evaluator);
      const reads = [
        () => text.render(),
        () => text.toString(),
        () => text.valueOf(),
        () => text.toJSON(),
        () => text.length,
        () => text.estimateTokens('claude'),
      ];
      for (const read of reads) {
        assert.throws(read, (error) => {
          assert.ok(error instanceof TurncoreError);
          assert.equal(error.code, 'E_TOKENIZABLE_EVALUATOR_INVALID');
          if (evaluator === bad[0]) assert.equal(error.cause, cause);
          return true;
        });
      }
    }
  });

  it('G6: set replaces the text, and what was counted', () => {
    const { text } = dynamic();
    const ctx = context(['lookup']);
    text.estimateTokens('claude');
    text.estimateTokens('claude', ctx);
    assert.equal(text.set('a'.repeat(35)), text);
    assert.equal(text.dynamic, false);
    assert.equal(text.estimateTokens('claude'), 10);
    assert.equal(text.estimateTokens('claude', ctx), 10);
    text.set(() => 'ab');
    assert.equal(text.dynamic, true);
    assert.equal(text.estimateTokens('claude'), 1);
    assert.throws(() => text.set(5 as never), { code: 'E_INVALID_VALUE' });
    assert.throws(() => new Tokenizable(undefined as never), { code: 'E_INVALID_VALUE' });
  });
});

describe('F23: an error', () => {
  it('prints its name and code', () => {
    assert.equal(String(new TurncoreError('E_X', 'why')), 'E_X [E_X]: why');
    const plain = new TurncoreError('', 'why');
    Object.defineProperty(plain, 'name', { value: 'Plain' });
    assert.equal(String(plain), 'Plain: why');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Tool, ToolRegistry } from '../../src/index.js';
import { type CollisionPolicy } from '../../src/entries/tools.js';

const tool = (name: string, more: object = {}): Tool =>
  new Tool({
    name,
    description: name,
    inputSchema: { type: 'object' },
    handler: () => name,
    ...more,
  });
const names = (tools: Iterable<{ name: string }>): string => [...tools].map((t) => t.name).join();

describe('Tool', () => {
  it('fills in its defaults', () => {
    const t = tool('t');
    assert.deepEqual(
      [t.meta.all(), t.ephemeral, t.trusted, t.onCollision],
      [{}, false, false, 'throw'],
    );
    assert.deepEqual(t.describe(), {
      name: 't',
      description: 't',
      inputSchema: { type: 'object' },
    });
  });

  it('lists every violation', () => {
    const bad = [
      { onCollision: 'sometimes' },
      { trusted: 'yes' },
      { inputSchema: { type: 'string' } },
      { inputSchema: 'x' },
      { name: '' },
      { description: undefined },
      { handler: 5 },
      { surprise: 1 },
    ];
    for (const more of bad) {
      const [field] = Object.keys(more);
      assert.throws(
        () => tool('t', more),
        (error: Error & { code: string }) =>
          error.code === 'E_INVALID_INITIAL_TOOL_VALUE' && error.message.includes(field!),
        JSON.stringify(more),
      );
    }
  });
});

describe('ToolRegistry', () => {
  it('keeps the order, and hands out fresh lists', () => {
    const registry = new ToolRegistry([tool('c'), tool('a'), tool('b')]);
    assert.equal(names(registry.all()), 'c,a,b');
    registry.all().pop();
    assert.equal(registry.size, 3);
    assert.throws(() => registry.register(tool('a')), { code: 'E_TOOL_ALREADY_REGISTERED' });
    const other = tool('a');
    registry.register(other, true);
    assert.equal(names(registry), 'c,a,b');
    assert.equal(registry.get('a'), other);
    assert.throws(() => new ToolRegistry([tool('x'), tool('x')]), {
      code: 'E_TOOL_ALREADY_REGISTERED',
    });
    assert.throws(() => registry.register({ name: 'x' } as never), { code: 'E_INVALID_VALUE' });
  });

  it('hides tools, before they are registered too', () => {
    const registry = new ToolRegistry([tool('a'), tool('b')]);
    registry.hide('a', 'later').register(tool('later'));
    assert.equal(names(registry.visible()), 'b');
    assert.equal(names(registry.hidden()), 'a,later');
    assert.equal(names(registry.all()), 'a,b,later');
    registry.unhide('later');
    assert.equal(names(registry.visible()), 'b,later');
    registry.unregister('a');
    registry.register(tool('a'));
    assert.equal(names(registry.hidden()), '');
    registry.setHidden(['b']);
    assert.equal(names(registry.hidden()), 'b');
    registry.clearHidden();
    assert.equal(names(registry.hidden()), '');
    assert.throws(() => registry.setHidden('b'), { code: 'E_INVALID_VALUE', message: /names/ });
    for (const wrong of [['b'], undefined, 5]) {
      const names = ['b', wrong] as string[];
      const refused = { code: 'E_INVALID_VALUE', message: /names\[1\]: must be a string/ };
      assert.throws(() => registry.hide(...names), refused);
      assert.throws(() => registry.unhide(...names), refused);
      assert.throws(() => registry.setHidden(names), refused);
    }
    assert.equal(registry.hidden().length, 0);
  });

  it('merges by policy, and the tool’s own word first', () => {
    const merge = (own: CollisionPolicy, policy?: CollisionPolicy): unknown => {
      const a = new ToolRegistry([tool('x', { meta: { from: 'a' } })]).hide('x');
      const b = new ToolRegistry([tool('x', { meta: { from: 'b' }, onCollision: own })]);
      const merged = ToolRegistry.merge([a, b], { onCollision: policy });
      assert.equal(names(merged.hidden()), 'x');
      assert.equal(a.get('x')!.meta.get('from'), 'a');
      return merged.get('x')!.meta.get('from');
    };
    assert.throws(() => merge('throw'), { code: 'E_TOOL_ALREADY_REGISTERED' });
    assert.equal(merge('throw', 'replace'), 'b');
    assert.equal(merge('throw', 'keep'), 'a');
    assert.equal(merge('replace', 'throw'), 'b');
    assert.equal(merge('keep', 'replace'), 'a');
  });

  it('prunes what is ephemeral', () => {
    const registry = new ToolRegistry([tool('a', { ephemeral: true }), tool('b')]);
    registry.pruneEphemeral().pruneEphemeral();
    assert.equal(names(registry), 'b');
  });

  it('copies change apart', () => {
    const sink = {
      define: () => undefined,
      registered: () => undefined,
      unregistered: () => undefined,
      hidden: () => undefined,
    };
    const a = new ToolRegistry([tool('a')]);
    const b = ToolRegistry.of(a.snapshot(), sink);
    b.register(tool('b')).hide('a');
    a.register(tool('c'));
    assert.equal(names(a), 'a,c');
    assert.equal(names(b), 'a,b');
    assert.equal(names(a.hidden()), '');
  });
});

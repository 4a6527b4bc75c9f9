// The files of node:sqlite and of Go's command are the same: what one has written, the other reads and continues.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { it } from 'node:test';
import { promisify } from 'node:util';

import { database, instructed, records, said, spooled } from './setup.mjs';

const npx = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

const turncore = fileURLToPath(new URL('../../../build/turncore', import.meta.url));

/** Runs the npm package's command, as {@link command}. */
async function commandOfNode(...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [npx, ...args]);
  return stdout;
}

/** Runs Go's command, which lane js-stores builds. @returns what it prints */
async function command(...args) {
  const { stdout } = await promisify(execFile)(turncore, args, { maxBuffer: 64 << 20 });
  return stdout;
}

it('Go reads and continues what Node has written, and Node what Go has', async (t) => {
  const file = database(t, 'shared.db');
  const text = 'line\n'.repeat(300_000);
  const first = file.open();
  const deltas = [instructed('be kind'), said('m1', 'hello ü'), said('m2'), spooled('c', text)];
  await first.commit('s', { deltas, key: 'k', turn: 't' });
  await first.setTitle('s', 'a title');
  await first.close();

  const document = JSON.parse(await command('sessions', 'export', 's', '--store', file.path));
  assert.equal(document.title, 'a title');
  assert.deepEqual(
    document.messages.map(({ id, content }) => [id, content]),
    [
      ['m1', 'hello ü'],
      ['m2', 'text'],
    ],
  );
  assert.deepEqual(
    Object.values(document.bytes).map((bytes) => bytes.text),
    [text],
  );
  await command('run', '--session', 's', '--store', file.path, 'and from Go');

  const again = file.open();
  const { messages, toolCalls, instructions } = await again.load('s');
  assert.deepEqual(
    messages.slice(0, 3).map(({ content }) => String(content)),
    ['hello ü', 'text', 'and from Go'],
  );
  assert.equal(messages.length, 4);
  assert.equal(await toolCalls[0].results.asString(), text);
  assert.deepEqual(instructions.map(records.recordToJSON), [{ v: 1, text: 'be kind' }]);
  assert.ok((await again.newest('s')) > Number(messages[0].createdAt));
  await again.commit('s', { deltas: [said('m1', 'changed', 'mutate')] });
  await again.close();
  const last = JSON.parse(await command('sessions', 'export', 's', '--store', file.path));
  assert.equal(last.messages[0].content, 'changed');
});

it("both commands say the same of a file, and go on with each other's conversations", async (t) => {
  const file = database(t, 'commands.db');
  const store = ['--store', file.path];
  await command('run', ...store, '--session', 'a <b> & "ü"', 'Please calculate 2 + 3');
  await commandOfNode('run', ...store, '--session', 'a <b> & "ü"', 'Thank you <b>');
  await commandOfNode('run', ...store, 'Please calculate 3 + 4');
  await command('run', ...store, 'Thanks');
  const chat = [...store, '--session', 'agent', '--confirm', 'calculate'];
  await command('chat', ...chat, 'Please calculate 2 + 3');
  await command('chat', ...store, '--session', 'chat/me/agent', 'And <b>  ü');
  const kept = file.open();
  await kept.setTitle('default', 'title & \u2028\u0007 end');
  const long = 'line\n'.repeat(1000);
  await kept.commit('bytes', { deltas: [instructed('be kind'), spooled('c', long)] });
  await kept.close();
  const actions = [
    ['list'],
    ['list', '--json'],
    ...['a <b> & "ü"', 'default', 'bytes', 'chat/me/agent'].flatMap((name) => [
      ['show', name],
      ['show', name, '--json'],
      ['export', name],
    ]),
  ];
  for (const [action, ...args] of actions) {
    const line = ['sessions', action, ...args, ...store];
    const [ofGo, ofNode] = [await command(...line), await commandOfNode(...line)];
    assert.equal(ofNode, ofGo, line.join(' '));
    assert.notEqual(ofGo, '');
  }
  assert.match(
    await commandOfNode('sessions', 'show', 'default', ...store),
    /← 7\n.*\nuser: Thanks\n/,
  );
  // A message, a call that waits, and what comes of the second message.
  assert.match(await commandOfNode('sessions', 'list', ...store), /^chat\/me\/agent\t4\t/mu);

  const document = await command('sessions', 'export', 'bytes', ...store);
  const path = `${file.path}.json`;
  await writeFile(path, document);
  const imported = await commandOfNode('sessions', 'import', path, '--session', 'again', ...store);
  assert.equal(imported, 'again\n');
  await commandOfNode('sessions', 'delete', 'bytes', 'chat/me/agent', ...store);
  assert.equal(await command('sessions', 'import', path, ...store), 'bytes\n');
  for (const action of ['import', 'show', 'delete']) {
    const gone = ['sessions', action, action === 'import' ? path : 'nothing', ...store];
    const code = action === 'import' ? /E_SESSION_EXISTS/ : /E_SESSION_NOT_FOUND: .*"nothing"/;
    for (const run of [command, commandOfNode]) {
      await assert.rejects(run(...gone), (error) => error.code === 1 && code.test(error.stderr));
    }
  }
});

/** What the Go program internal/appended of host/store/sqlite says of a file, to which it appends. */
async function appended(path) {
  const cwd = fileURLToPath(new URL('../../../host/store/sqlite', import.meta.url));
  const { stdout } = await promisify(execFile)('go', ['run', './internal/appended', path], { cwd });
  return JSON.parse(stdout);
}

it('Go reads and continues the events, state, artifacts and journals of Node, and Node those of Go', async (t) => {
  const utf8 = new TextEncoder();
  const text = (bytes) => new TextDecoder().decode(bytes);
  const file = database(t, 'appended.db');
  const first = file.open();
  await first.putBytes('s', 'b', 'bytes of Node');
  const by = { key: 'k', turn: 't' };
  const append = {
    event: { id: 'ü', body: utf8.encode('body') },
    state: [
      { scope: '', name: 'a', value: utf8.encode('1') },
      { scope: '', name: 'b', value: utf8.encode('') },
      { scope: 'shared', name: 'n', value: utf8.encode('2') },
    ],
    artifacts: [{ scope: '', name: 'text', version: 0, bytes: 'b', body: utf8.encode('first') }],
  };
  const revision = await first.append('s', { ...append, ...by });
  const entries = ['a', 'b', 'c'].map((each) => utf8.encode(each));
  await first.appendJournal('t', { epoch: 1, at: 0, entries });
  await first.compactJournal('t', { epoch: 1, before: 1, checkpoint: utf8.encode('[a]') });
  await first.close();
  assert.deepEqual(await appended(file.path), {
    events: ['ü body'],
    state: [' a=1', ' b=', 'shared n=2'],
    artifacts: [' text 0 first: bytes of Node'],
    journal: ['1 [a] 1', 'b', 'c'],
  });

  const again = file.open();
  const events = await again.events('s');
  assert.deepEqual(
    events.map(({ id, body }) => `${id} ${text(body)}`),
    ['ü body', 'go from Go'],
  );
  assert.equal(events[0].revision, revision);
  assert.equal(await again.append('s', { ...append, ...by }), revision);
  const names = async (scope) => (await again.state('s', scope)).map(({ name }) => name);
  assert.deepEqual([await names(''), await names('shared')], [['b'], ['go', 'n']]);
  for (const [scope, version] of [
    ['', 1],
    ['shared', 0],
  ]) {
    const reader = await again.openArtifact('s', scope, 'text', version);
    assert.equal(await reader.readAll(), 'bytes of Go');
  }
  const part = await again.readJournal('t');
  assert.deepEqual([part.epoch, part.first, part.entries.map(text)], [2, 1, ['b', 'c', 'from Go']]);
  const late = { epoch: 1, at: 4, entries };
  await assert.rejects(again.appendJournal('t', late), { code: 'E_TURN_FENCED' });
});

it('Go continues a fork that Node has made, and Node one that shares with what Go changes', async (t) => {
  const file = database(t, 'forks.db');
  const first = file.open();
  const deltas = [instructed('be kind'), said('m1', 'one'), said('m2', 'two')];
  await first.commit('s', { deltas });
  await first.fork('s', 'f');
  await first.commit('f', { deltas: [said('m3', 'of the fork')] });
  await first.close();

  const texts = async (session) => {
    const text = await command('sessions', 'export', session, '--store', file.path);
    return JSON.parse(text).messages.map(({ content }) => content);
  };
  assert.deepEqual(await texts('f'), ['one', 'two', 'of the fork']);
  await command('run', '--session', 'f', '--store', file.path, 'and from Go');
  const again = file.open();
  await again.commit('s', { deltas: [said('m1', 'changed', 'mutate')] });
  const { messages, instructions } = await again.load('f');
  assert.deepEqual(
    messages.slice(0, 4).map(({ content }) => String(content)),
    ['one', 'two', 'of the fork', 'and from Go'],
  );
  assert.equal(instructions.length, 1);
  await again.close();
  assert.deepEqual(await texts('s'), ['changed', 'two']);
  assert.equal((await texts('f'))[0], 'one');
});

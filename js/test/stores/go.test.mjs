// The files of node:sqlite and of Go's command are the same: what one has written, the other reads and continues.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { it } from 'node:test';
import { promisify } from 'node:util';

import { database, instructed, records, said, spooled } from './setup.mjs';

const turncore = fileURLToPath(new URL('../../../build/turncore', import.meta.url));

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

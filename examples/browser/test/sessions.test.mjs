// The page of sessions in headless Chromium, and a session that goes on in Go. Screenshots go to build/demo.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { startDemo } from './start.mjs';
import { DESKTOP, PHONE, startBrowser, stopBrowser, Visit } from './visit.mjs';

const WIDE = { viewport: { width: 1440, height: 860 } };
/** Go's command, which `make` builds. */
const turncore = fileURLToPath(new URL('../../../build/turncore', import.meta.url));

before(startBrowser);
after(stopBrowser);

suite('sessions', () => {
  let demo;
  before(async () => (demo = await startDemo({ args: ['--port', '0', '--pause', '5'] })));
  after(() => demo?.stop());

  const visited = (options, more) =>
    Visit.to(demo.address, options, { path: 'sessions.html', ...more });
  const button = (visit, name) => visit.page.getByRole('button', { name, exact: true });
  const authors = (visit) => visit.page.locator('#events .event').allTextContents();
  const titles = (visit) => visit.page.locator('#conversation-list .subject').allTextContents();
  const bubbles = (visit) => visit.page.locator('.said').allTextContents();
  const card = (visit, name) => visit.page.locator('.tool', { hasText: name }).last();
  const done = (visit, name) =>
    visit.page.locator('.tool[data-state="done"]', { hasText: name }).last().waitFor();
  /** Says something, and waits for the end of the answer. */
  const say = async (visit, words, until = 'ready') => {
    await visit.say(words);
    await visit.page.locator('#state[data-state="running"]').waitFor({ state: 'detached' });
    await visit.state(until);
  };
  const values = async (visit) => {
    const names = await visit.page.locator('#values dt').allTextContents();
    const texts = await visit.page.locator('#values dd').allTextContents();
    return Object.fromEntries(names.map((name, i) => [name, JSON.parse(texts[i])]));
  };

  test('keep events and state, and a call that waits over a reload', async () => {
    const visit = await visited(WIDE);
    await say(visit, 'Remember "buy milk"');
    assert.deepEqual(await values(visit), { remembered: ['buy milk'] });
    assert.deepEqual(await authors(visit), ['user', 'guide', 'guide', 'guide']);
    assert.equal((await bubbles(visit)).at(-1), 'The tool answered: {"remembered":1}');
    await say(visit, 'Forget "buy milk"', 'asks you');
    assert.match(await card(visit, 'forget').textContent(), /buy milk.*Forget "buy milk"\?/s);
    await visit.shot('sessions-asks');

    await visit.page.reload();
    await visit.state('asks you');
    assert.deepEqual(await titles(visit), ['Remember "buy milk"']);
    await button(visit, 'Approve').click();
    await visit.state('ready');
    await done(visit, 'forget');
    assert.deepEqual(await values(visit), {});
    assert.equal((await bubbles(visit)).at(-1), 'The tool answered: {"forgotten":"buy milk"}');
    assert.deepEqual((await authors(visit)).slice(4), ['user', 'guide', 'user', 'guide', 'guide']);
    const stored = await bubbles(visit);
    await visit.page.reload();
    await visit.state('ready');
    assert.deepEqual(await bubbles(visit), stored);
    await visit.leave();
  });

  test('do not run what the visitor refuses', async () => {
    const visit = await visited(DESKTOP);
    await say(visit, 'Remember "buy milk"');
    await say(visit, 'Forget "buy milk"', 'asks you');
    await button(visit, 'Refuse').click();
    await visit.state('ready');
    await visit.page.locator('.tool[data-state="error"]').waitFor();
    assert.deepEqual(await values(visit), { remembered: ['buy milk'] });
    assert.match((await bubbles(visit)).at(-1), /did not confirm/);
    await visit.leave();
  });

  test('are forked at an event, rewound, listed, opened and deleted', async () => {
    const visit = await visited(WIDE);
    await say(visit, 'Remember "tea"');
    await say(visit, 'Remember "bread"');
    const first = visit.page.url();
    await visit.page.locator('#events li').nth(3).locator('summary').click();
    await visit.shot('sessions-event');
    await button(visit, 'Fork here').click();
    await visit.page.waitForURL((url) => url.href !== first);
    await visit.page.locator('.subject', { hasText: /^Fork: Remember "tea"$/ }).waitFor();
    await visit.page.waitForFunction(() => document.querySelectorAll('#events li').length === 4);
    assert.deepEqual(await values(visit), { remembered: ['tea'] });
    await say(visit, 'Remember "jam"');
    assert.deepEqual(await values(visit), { remembered: ['tea', 'jam'] });

    await visit.page.getByRole('button', { name: /^Remember "tea"/ }).click();
    await visit.page.waitForURL(first);
    await visit.page.waitForFunction(() => document.querySelectorAll('#events li').length === 8);
    assert.deepEqual(await values(visit), { remembered: ['tea', 'bread'] });
    await visit.page.locator('#events li').nth(4).locator('summary').click();
    await button(visit, 'Rewind to before').click();
    await visit.page.waitForFunction(() => document.querySelectorAll('#events li').length === 9);
    assert.deepEqual(await values(visit), { remembered: ['tea'] });
    await say(visit, 'hello');

    await button(visit, 'Delete').click();
    await button(visit, 'Really delete?').click();
    await visit.page.waitForURL((url) => url.hash === '');
    assert.deepEqual(await titles(visit), ['Fork: Remember "tea"']);
    assert.deepEqual(await values(visit), {});
    await button(visit, 'New session').click();
    await say(visit, 'hello');
    assert.deepEqual(await titles(visit), ['hello', 'Fork: Remember "tea"']);
    await visit.leave();
  });

  test('stop answering, and go on', async () => {
    const visit = await visited(DESKTOP);
    await visit.say(`word ${'more '.repeat(2000)}`);
    await visit.page.locator('.by-agent').waitFor();
    await visit.page.keyboard.press('Escape');
    await visit.state('aborted');
    await visit.page.locator('.facts', { hasText: 'stopped' }).waitFor();
    await say(visit, 'hello');
    assert.match((await bubbles(visit)).at(-1), /^You said: hello/);
    await visit.leave();
  });

  test('answer with a model in the page', async () => {
    const visit = await visited(PHONE, { model: 'scripted' });
    await say(visit, 'What is the weather in Oslo?');
    await done(visit, 'get_weather');
    await visit.shot('sessions-phone');
    const width = await visit.page.evaluate(() => document.querySelector('.bar').scrollWidth);
    assert.equal(width, PHONE.viewport.width);
    await visit.leave();
  });

  /** Runs Go's command. @returns what it printed, and what it said beside */
  const go = async (args, input = '') => {
    const child = spawn(turncore, args);
    child.stdin.end(input);
    const said = [text(child.stdout), text(child.stderr)];
    const [status] = await once(child, 'close');
    const [printed, beside] = await Promise.all(said);
    assert.equal(status, 0, beside);
    return { printed, beside };
  };

  test('go to a terminal, where a call that waits is answered, and come back', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'turncore-demo-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const [exported, database] = [join(folder, 'page.json'), join(folder, 'sessions.db')];
    const visit = await visited(WIDE);
    await say(visit, 'Remember "buy milk"');
    await say(visit, 'Forget "buy milk"', 'asks you');
    const download = visit.page.waitForEvent('download');
    await button(visit, 'Export').click();
    await (await download).saveAs(exported);
    const id = new URL(visit.page.url()).hash.slice(1);

    const store = ['--store', database];
    const name = (await go(['sessions', 'import', exported, ...store])).printed.trim();
    assert.equal(name, `turncore-demo/visitor/${id}`);
    const tool = 'forget=echo gone';
    const { printed, beside } = await go(
      ['chat', ...store, '--session', name, '--tool', tool],
      'y\nThank you from the terminal\n/state\n',
    );
    assert.match(
      beside,
      /\? guide wants to run forget \{"text":"buy milk"\}\n {2}Forget "buy milk"\?/,
    );
    assert.match(beside, /← gone/);
    assert.match(printed, /The tool answered: .*gone/);
    assert.match(printed, /You said: Thank you from the terminal/);
    assert.match(printed, /remembered: \["buy milk"\]/);

    const back = join(folder, 'terminal.json');
    const document = (await go(['sessions', 'export', name, ...store])).printed;
    await writeFile(back, document);
    // The one that is there stays, and the other one comes beside it.
    const address = visit.page.url();
    await visit.page.setInputFiles('#file', back);
    await visit.page.waitForURL((url) => url.href !== address);
    await visit.state('ready');
    assert.equal((await titles(visit)).length, 2);
    const said = await bubbles(visit);
    assert.ok(said.includes('Thank you from the terminal'), said.join('\n'));
    assert.deepEqual(await visit.page.locator('.question').count(), 0);
    assert.deepEqual((await authors(visit)).slice(4), [
      'user',
      'guide',
      'user',
      'guide',
      'guide',
      'user',
      'guide',
    ]);
    await visit.shot('sessions-back');
    await say(visit, 'Remember "and back"');
    assert.deepEqual(await values(visit), { remembered: ['buy milk', 'and back'] });

    // Both sides keep what the other wrote, byte for byte.
    const again = visit.page.waitForEvent('download');
    await button(visit, 'Export').click();
    await (await again).saveAs(exported);
    const events = (document) => document.events.map(({ id, body }) => [id, body.base64]);
    const kept = events(JSON.parse(await readFile(exported, 'utf8')));
    const sent = events(JSON.parse(document));
    assert.deepEqual(kept.slice(0, sent.length), sent);
    await visit.leave();
  });

  test('are not taken from a file that has none', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'turncore-demo-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'other.json');
    await writeFile(file, '{"format": "something else"}');
    const visit = await visited(WIDE);
    await visit.page.setInputFiles('#file', file);
    const failure = visit.page.locator('#conversations-failure');
    await failure.waitFor();
    assert.match(await failure.textContent(), /cannot be imported: .*format/);
    await visit.leave();
  });
});

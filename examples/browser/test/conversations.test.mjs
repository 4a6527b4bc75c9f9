// Conversations that the page keeps, in headless Chromium. Screenshots go to build/demo.
import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';

import { startDemo } from './start.mjs';
import { DESKTOP, PHONE, startBrowser, stopBrowser, Visit } from './visit.mjs';

before(startBrowser);
after(stopBrowser);

suite('conversations', () => {
  let demo;
  before(async () => (demo = await startDemo({ args: ['--port', '0', '--pause', '5'] })));
  after(() => demo?.stop());

  const titles = (visit) => visit.page.locator('#conversation-list .subject').allTextContents();
  const action = (visit, name) => visit.page.locator('.actions').getByRole('button', { name });
  const said = (visit) => visit.page.locator('.said').allTextContents();

  test('are there after a reload, and go on', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    const requests = [];
    visit.page.on('request', (request) => {
      if (request.method() === 'POST') requests.push(request.postDataJSON());
    });
    await visit.say('What is the weather in Oslo?');
    await visit.ended(0);
    await visit.page.locator('#conversation-list [aria-current]').waitFor();
    assert.deepEqual(await titles(visit), ['What is the weather in Oslo?']);
    const before = await said(visit);
    const result = await visit.turn(0).locator('.tool dd').last().textContent();

    await visit.page.reload();
    await visit.state('ready');
    assert.deepEqual(await said(visit), before);
    const card = visit.turn(0).locator('.tool');
    assert.equal(await card.locator('.name').textContent(), 'get_weather');
    assert.equal(await card.locator('dd').last().textContent(), result);
    assert.equal(await visit.turn(0).locator('.thought').count(), 1);
    await visit.shot('reloaded');

    await visit.say('and again');
    await visit.ended(1);
    const roles = requests.at(-1).messages.map(({ role }) => role);
    assert.deepEqual(roles, ['system', 'user', 'assistant', 'tool', 'assistant', 'user']);
    assert.deepEqual(await titles(visit), ['What is the weather in Oslo?']);
    await visit.leave();
  });

  test('are listed, the last first, and each is opened by a click or its address', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    await visit.say('first');
    await visit.ended(0);
    await visit.page.getByRole('button', { name: 'New chat' }).click();
    assert.equal(await visit.page.locator('.turn').count(), 0);
    await visit.say('second');
    await visit.ended(0);
    await visit.page.locator('#conversation-list li:nth-child(2)').waitFor();
    assert.deepEqual(await titles(visit), ['second', 'first']);
    await visit.page.getByRole('button', { name: /^first/ }).click();
    await visit.page.locator('.said', { hasText: 'You said: first' }).waitFor();
    assert.equal((await said(visit))[0], 'first');
    await visit.page.goBack();
    await visit.page.locator('.said', { hasText: 'You said: second' }).waitFor();
    await visit.leave();
  });

  test('are renamed, and deleted when asked twice', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    await visit.say('hello');
    await visit.ended(0);
    await action(visit, 'Rename').click();
    await visit.page.getByLabel('Title').fill('  Greetings ');
    await visit.page.keyboard.press('Enter');
    await visit.page.locator('.subject', { hasText: /^Greetings$/ }).waitFor();
    await action(visit, 'Rename').click();
    await visit.page.getByLabel('Title').fill('other');
    await visit.page.keyboard.press('Escape');
    await visit.page.locator('.subject', { hasText: /^Greetings$/ }).waitFor();
    await visit.page.reload();
    await visit.state('ready');
    assert.deepEqual(await titles(visit), ['Greetings']);

    await action(visit, 'Delete').click();
    await visit.shot('deleting');
    assert.deepEqual(await titles(visit), ['Greetings']);
    await action(visit, 'Really delete?').click();
    await visit.page.locator('#no-conversations').waitFor();
    assert.equal(await visit.page.locator('.turn').count(), 0);
    assert.equal(new URL(visit.page.url()).hash, '');
    await visit.page.reload();
    await visit.state('ready');
    assert.deepEqual(await titles(visit), []);
    await visit.leave();
  });

  test('go to a file and back, beside the one that is there', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    await visit.say('Calculate (17 + 4) * 2.5');
    await visit.ended(0);
    const before = await said(visit);
    const download = visit.page.waitForEvent('download');
    await action(visit, 'Export').click();
    const file = await download;
    assert.equal(file.suggestedFilename(), 'Calculate-17-4-2-5.json');
    const path = join(tmpdir(), `turncore-demo-${process.pid}.json`);
    await file.saveAs(path);
    try {
      const { format, v, messages, toolCalls } = JSON.parse(await readFile(path, 'utf8'));
      assert.deepEqual([format, v], ['turncore.conversation', 1]);
      assert.deepEqual([messages.length, toolCalls.length], [2, 1]);

      const address = visit.page.url();
      await visit.page.setInputFiles('#file', path);
      await visit.page.waitForURL((url) => url.href !== address);
      await visit.page.locator('#conversation-list li:nth-child(2)').waitFor();
      await visit.page
        .locator('.said')
        .nth(before.length - 1)
        .waitFor(); // it is drawn after it is listed
      assert.deepEqual(await said(visit), before);
      const other = await Visit.to(demo.address, PHONE);
      await other.page.setInputFiles('#file', path);
      await other.page.locator('.tool').waitFor();
      assert.deepEqual(await said(other), before);
      await other.leave();

      await writeFile(path, '{"format": "something else"}');
      await visit.page.setInputFiles('#file', path);
      const failure = visit.page.locator('#conversations-failure');
      await failure.waitFor();
      assert.match(await failure.textContent(), /cannot be imported: .*format/);
      assert.equal(await visit.page.locator('#conversation-list li').count(), 2);
    } finally {
      await rm(path);
    }
    await visit.leave();
  });

  test('are a sheet on a phone', async () => {
    const visit = await Visit.to(demo.address, PHONE);
    await visit.say('hello');
    await visit.ended(0);
    await visit.page.getByRole('button', { name: 'Chats' }).click();
    await visit.page.locator('#conversation-list [aria-current]').waitFor();
    await visit.shot('phone-chats');
    await visit.page.getByRole('button', { name: 'Close' }).first().click();
    assert.equal(await visit.page.locator('#conversations').isVisible(), false);
    await visit.leave();
  });

  test('of two tabs are in both lists', async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    const second = await visit.context.newPage();
    await second.goto(`${demo.address}/?model=server`);
    await second.locator('#state[data-state="ready"]').waitFor();
    await visit.say('from the first tab');
    await visit.ended(0);
    await second.locator('.subject', { hasText: 'from the first tab' }).waitFor();
    await visit.leave();
  });
});

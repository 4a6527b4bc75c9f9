// Somebody else's agent in the demo page: what it may do is said before it runs, and then it runs. Screenshots go to
// build/demo.
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';

import { startDemo } from './start.mjs';
import { DESKTOP, PHONE, startBrowser, stopBrowser, Visit } from './visit.mjs';

const WIKIPEDIA = 'https://en.wikipedia.org/';

suite("somebody else's agent", () => {
  let demo;
  before(async () => {
    await startBrowser();
    demo = await startDemo({ args: ['--port', '0', '--pause', '5'] });
  });
  after(async () => {
    await stopBrowser();
    await demo?.stop();
  });

  /** Opens the page and chooses the agent. */
  async function choose(options = DESKTOP, how = {}) {
    const visit = await Visit.to(demo.address, options, { allowed: WIKIPEDIA, ...how });
    await visit.page.getByLabel('Agent', { exact: true }).selectOption('research');
    await visit.page.locator('.sheet').waitFor();
    return visit;
  }

  test('what it asks for and what its grant gives it, before anything of it runs', async () => {
    const visit = await choose();
    const sheet = visit.page.locator('.sheet');
    await visit.state('asks you');
    assert.equal(await sheet.locator('h2').textContent(), 'research 1.0.0');
    assert.equal(
      await sheet.locator('> p').first().textContent(),
      'In the words of its author: "Looks things up in Wikipedia and writes reports."',
    );
    const items = (heading) =>
      sheet
        .locator('.sections > section')
        .filter({ has: visit.page.getByRole('heading', { name: heading, exact: true }) })
        .locator('li')
        .allTextContents();
    assert.deepEqual(await items('It brings'), [
      'the tool search',
      'the tool read',
      'the tool publish',
    ]);
    assert.deepEqual(await items('It asks for'), [
      'requests to https://en.wikipedia.org (to look things up)',
      'the model default (to read and write)',
    ]);
    assert.deepEqual((await items('It can')).slice(0, 2), [
      'send requests to https://en.wikipedia.org: "to look things up"',
      'use simulated/simulated as its model default: "to read and write"',
    ]);
    assert.ok((await items('It cannot')).includes('send requests to any other origin'));
    await sheet.getByText('The grant', { exact: true }).click();
    assert.match(await sheet.locator('pre').textContent(), /"agent": "research"/);
    await sheet.getByText('The grant', { exact: true }).click();
    assert.ok(await visit.page.getByRole('button', { name: 'Send' }).isDisabled());
    await visit.shot('agent-sheet');
    await visit.leave();
  });

  test('without a grant it is refused', async () => {
    const visit = await choose();
    await visit.page.getByRole('button', { name: 'Load it without a grant' }).click();
    const error = visit.page.locator('.sheet').getByRole('alert');
    assert.equal(await error.locator('.name').textContent(), 'E_AGENT_NOT_GRANTED');
    assert.match(await error.textContent(), /requests to https:\/\/en\.wikipedia\.org/);
    await visit.shot('agent-refused');
    await visit.state('asks you');
    await visit.leave();
  });

  for (const [button, published] of [
    ['Approve', true],
    ['Refuse', false],
  ]) {
    test(`it calls tools and asks at its gate, and the visitor presses ${button}`, async () => {
      const asked = [];
      const visit = await choose(DESKTOP, {
        prepare: (page) =>
          page.route(`${WIKIPEDIA}**`, (route) => {
            asked.push(route.request().url());
            const pages = [{ title: 'Io (moon)' }, { title: 'Europa (moon)' }];
            const headers = { 'access-control-allow-origin': '*' };
            return route.fulfill({ json: { pages }, headers });
          }),
      });
      await visit.page.getByRole('button', { name: 'Load it with this grant' }).click();
      await visit.state('ready');
      assert.match(
        await visit.page.textContent('#module'),
        /^research \d\.\d\d MB \(\d\.\d\d MB compressed\), ready in \d+ ms/,
      );
      await visit.page.getByRole('button', { name: 'Search for the moons of Jupiter' }).click();
      assert.match(await visit.ended(0), /^ack · 2 iterations/);
      assert.deepEqual(asked, [`${WIKIPEDIA}w/rest.php/v1/search/page?limit=5&q=Jupiter`]);
      const found = visit.turn(0).locator('.tool');
      assert.equal(await found.locator('.name').textContent(), 'search');
      assert.match(await found.locator('dd').last().textContent(), /"Europa \(moon\)"/);

      await visit.page.getByRole('button', { name: 'Publish a report' }).click();
      const card = visit.turn(1).locator('.tool[data-state="waiting"]');
      await card.waitFor();
      assert.equal(await card.locator('.question p').textContent(), 'Publish the report?');
      assert.equal(
        await card.locator('dd').first().textContent(),
        '{ "text": "Fire and ice.", "title": "Moons" }',
      );
      await visit.shot('agent-asking');
      await card.getByRole('button', { name: button }).click();
      assert.match(await visit.ended(1), /^ack · 2 iterations/);
      const result = await visit.turn(1).locator('.tool dd').last().textContent();
      assert.equal(result, `{ "published": ${published} }`);
      await visit.shot(`agent-published-${published}`);
      // It has no store: nothing of it is kept.
      assert.equal(await visit.page.locator('#conversation-list li').count(), 0);
      await visit.leave();
    });
  }

  test('an encyclopedia that cannot be reached is an error of its tool', async () => {
    const visit = await choose(DESKTOP, {
      prepare: (page) => page.route(`${WIKIPEDIA}**`, (route) => route.abort()),
    });
    visit.expected.push(/net::ERR_FAILED/);
    await visit.page.getByRole('button', { name: 'Load it with this grant' }).click();
    await visit.state('ready');
    await visit.say('Search for "Mars"');
    assert.match(await visit.ended(0), /^ack/);
    assert.equal(await visit.turn(0).locator('.tool').getAttribute('data-state'), 'error');
    await visit.leave();
  });

  test('the llama.cpp of the page answers it too', async () => {
    const visit = await choose(DESKTOP, { model: 'scripted' });
    await visit.page.getByRole('button', { name: 'Load it with this grant' }).click();
    await visit.state('ready');
    await visit.page.getByRole('button', { name: 'Publish a report' }).click();
    await visit.turn(0).getByRole('button', { name: 'Approve' }).click();
    assert.match(await visit.ended(0), /^ack · 2 iterations/);
    await visit.shot('agent-scripted');
    const answer = await visit.turn(0).locator('.by-agent').textContent();
    assert.equal(answer, 'Done: the report is published.');
    await visit.leave();
  });

  test("the page's own agent and its conversations are there again", async () => {
    const visit = await Visit.to(demo.address, DESKTOP);
    await visit.say('hello');
    await visit.ended(0);
    await visit.page.getByLabel('Agent', { exact: true }).selectOption('research');
    await visit.state('asks you');
    assert.equal(await visit.page.locator('.turn').count(), 0);
    assert.equal(new URL(visit.page.url()).searchParams.get('agent'), 'research');
    await visit.page.locator('#conversation-list .opener').click();
    await visit.state('ready');
    assert.equal(await visit.turn(0).locator('.by-user').textContent(), 'hello');
    assert.equal(await visit.page.locator('.sheet').count(), 0);
    assert.equal(new URL(visit.page.url()).searchParams.get('agent'), null);
    await visit.say('again');
    await visit.ended(1);
    await visit.leave();
  });

  for (const colorScheme of ['light', 'dark']) {
    test(`on a phone, ${colorScheme}, everything fits`, async () => {
      const visit = await choose({ ...PHONE, colorScheme });
      const { page } = visit;
      await visit.shot(`agent-phone-${colorScheme}`);
      const overflow = await page.evaluate(() => {
        const root = document.documentElement;
        return [root.scrollWidth - root.clientWidth, root.scrollHeight - root.clientHeight];
      });
      assert.deepEqual(overflow, [0, 0]);
      await visit.leave();
    });
  }
});

// The suite of stores on the databases of each platform, and a workerd that is killed while it writes. Prints a line
// for each that passed.
//
//   node suite.mjs [PART]   TURNCORE_HOSTS has puppeteer-core, for Firefox
//
// PART is 1/3, 2/3 or 3/3: the first, second or third way of using IndexedDB is Firefox's, and Chromium has the one
// that follows. Without it, or with 1/1, both have all.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { browsers } from '../hosts/browsers.mjs';
import { servePage } from './page.mjs';
import { layOut, start } from './workerd.mjs';

const [part = '1/1'] = process.argv.slice(2);
/** The ways of using IndexedDB: what each is, the call that runs the suite, and whether it keeps bytes in files. */
const WAYS = [
  [
    'with files',
    `runSuite({ opfs: true, sessions: ${process.env.TURNCORE_LONG ? 10_000 : 1000} })`,
    true,
  ],
  ['without files', 'runSuite({ opfs: false, sessions: 500 })', false],
  ['with files, in a worker', "inWorker('runSuite', { opfs: true, sessions: 500 })", true],
];
const [which, of] = part.split('/').map(Number);
assert.ok(
  (which === 1 && of === 1) || (1 <= which && which <= of && of === WAYS.length),
  `no part: ${part}`,
);
const ways =
  of === 1
    ? { Chromium: WAYS, Firefox: WAYS }
    : { Chromium: [WAYS[which % WAYS.length]], Firefox: [WAYS[which - 1]] };

/** How often workerd is killed. */
const KILLS = 20;

/** Prints how many tests passed. @throws if one did not */
function passed(place, results) {
  const wrong = results.filter(({ wrong }) => wrong !== undefined && wrong !== null);
  assert.deepEqual(wrong, [], `${place}: ${wrong.map(({ name, wrong }) => `${name}: ${wrong}`)}`);
  console.log(`${place}: ${results.length} passed`);
}

const server = await servePage();
try {
  // All end, so that no browser is left which would hold this process's output.
  const ended = await Promise.allSettled([
    inBrowser('Chromium'),
    inBrowser('Firefox').then(inPrivateWindow),
    inDurableObjects(),
  ]);
  for (const { reason } of ended) if (reason !== undefined) throw reason;
} finally {
  server.stop();
}

async function inBrowser(name) {
  const browser = await browsers[name]();
  try {
    await browser.open(`${server.address}/page/index.html`);
    let files = false;
    for (const [what, call, makesFiles] of ways[name]) {
      passed(`IndexedDB in ${name}, ${what}`, await browser.evaluate(call));
      files ||= makesFiles;
      assert.equal((await browser.evaluate('countFiles()')) > 0, files, `${what}: files`);
    }
    passed(`sessions in IndexedDB in ${name}`, await browser.evaluate('runSessions({})'));
    assert.deepEqual(await browser.evaluate('runFaults()'), {
      later: 'E_STORE_VERSION',
      others: 'E_STORE_FAILED',
      deleted: 0,
      closed: 'E_STORE_FAILED',
    });
    passed(`what browsers do to IndexedDB, in ${name}`, await browser.evaluate('runCases()'));
  } finally {
    await browser.close();
  }
}

async function inPrivateWindow() {
  const secret = await browsers.Firefox({ secret: true });
  try {
    await secret.open(`${server.address}/page/index.html`);
    const files = await secret.evaluate(
      'navigator.storage.getDirectory().then(() => true, () => false)',
    );
    assert.equal(files, false, 'a private window has no files');
    passed('IndexedDB in a private window of Firefox', await secret.evaluate('runCases()'));
  } finally {
    await secret.close();
  }
}

async function inDurableObjects() {
  const folder = await mkdtemp(join(tmpdir(), 'turncore-objects-'));
  await layOut(folder);
  let workerd = await start(folder);
  const ask = async (path) => (await fetch(workerd.address + path)).json();
  try {
    const results = [];
    for (const name of await ask('/names')) {
      results.push({ name, wrong: await ask(`/test?name=${encodeURIComponent(name)}`) });
    }
    passed('Durable Object in workerd', results);

    // Commits are there whole after a kill, and once each when they are made again.
    for (let kill = 0; kill < KILLS; kill++) {
      const writes = Array.from({ length: 8 }, (_, n) =>
        ask(`/write?object=killed&id=${8 * kill + n}`).then(
          () => 8 * kill + n,
          () => undefined,
        ),
      );
      await new Promise((resolve) => setTimeout(resolve, 1 + ((kill * 37) % 29)));
      await workerd.kill();
      const stored = (await Promise.all(writes)).filter((id) => id !== undefined);
      workerd = await start(folder);
      const ids = await ask('/read?object=killed');
      for (const id of stored) assert.ok(ids.includes(`a${id}`), `${id} is lost`);
      for (let i = 0; i < ids.length; i += 2) assert.equal(ids[i + 1], ids[i].replace('a', 'b'));
      for (let n = 0; n < 8; n++) await ask(`/write?object=killed&id=${8 * kill + n}`);
      const again = await ask('/read?object=killed');
      assert.equal(new Set(again).size, again.length);
      assert.equal(again.length, 16 * (kill + 1), `after kill ${kill}`);
    }
    console.log(`workerd killed: ${KILLS} passed`);
  } finally {
    await workerd.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

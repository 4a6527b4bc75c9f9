// Plays the conformance corpus in headless Chromium, in a page and in a worker, prints what came of it and writes the
// logs to files. In the page IndexedDB keeps what storage callbacks get.
//
//   node chromium.mjs PAGE-LOG WORKER-LOG PART      PART of the corpus for the worker: 2/5 is the second fifth, 1/1 is all
import { writeFile } from 'node:fs/promises';

import { launchChromium } from '../browser/chromium.mjs';
import { startPackageServer } from '../browser/package-server.mjs';
import { readCorpus } from './corpus.mjs';
import { partOf } from './play.mjs';

const [pageLog, workerLog, part] = process.argv.slice(2);
// As text: an object would lose keys such as __proto__ on the way into the page.
const corpus = await readCorpus();
const files = JSON.stringify(corpus);
const some = JSON.stringify(partOf(corpus, part));
const server = await startPackageServer();
const browser = await launchChromium({ optimized: true });
let failed = false;
try {
  const page = await browser.newPage();
  await page.goto(`${server.address}/`);
  await report('Chromium page', pageLog, await page.evaluate(inPage, files), true);
  await report('Chromium worker', workerLog, await page.evaluate(inWorker, some));
} finally {
  await browser.close();
  server.stop();
}
process.exitCode = failed ? 1 : 0;

async function report(name, file, { passed, failures, log, commits }, kept) {
  await writeFile(file, log);
  for (const failure of failures) console.log(`FAILED ${failure}`);
  console.log(`${name}: ${passed.length} passed`);
  if (failures.length > 0 || passed.length === 0) failed = true;
  if (kept && commits === 0) {
    console.log('FAILED IndexedDB has kept nothing');
    failed = true;
  }
}

async function inPage(text) {
  const conformance = await import('/package/conformance.min.js');
  const { loadModule } = await import('/package/turncore.min.js');
  const { fullModuleURL } = await import('/package/wasm.min.js');
  const { indexedDBStore } = await import('/package/stores/indexeddb.min.js');
  const { playCorpus } = await import('/conformance/play.mjs');
  const host = { module: loadModule(fullModuleURL) };
  return playCorpus(conformance, JSON.parse(text), host, false, indexedDBStore('corpus'));
}

async function inWorker(text) {
  const worker = new Worker('/conformance/worker.mjs', { type: 'module' });
  try {
    return await new Promise((resolve, reject) => {
      worker.addEventListener('message', ({ data }) => resolve(data));
      worker.addEventListener('error', ({ message }) => reject(new Error(message)));
      worker.postMessage(text);
    });
  } finally {
    worker.terminate();
  }
}

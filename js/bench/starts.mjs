/**
 * The first turn of a process on four hosts: with the module as it ships, which is started while it is built, against
 * one that starts in the host. Both begin with the module's bytes in hand.
 *
 *   node js/bench/starts.mjs --plain FILE --go PROGRAM [--pairs 15] [--json FILE] [--host Node]
 *
 * FILE is the core module of `go run ./wasm/build -plain`, PROGRAM a build of host/internal/bench. Each measurement has
 * a process of its own, and those of a pair follow each other, in changing order.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { launchChromium } from '../test/browser/chromium.mjs';
import { startPackageServer } from '../test/browser/package-server.mjs';
import { startWorkerd } from '../test/workerd/start.mjs';
import { now, summarize } from './meter.mjs';

const { values: options } = parseArgs({
  options: {
    plain: { type: 'string' },
    go: { type: 'string' },
    pairs: { type: 'string', default: '15' },
    json: { type: 'string' },
    host: { type: 'string', multiple: true },
  },
});
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const modules = { plain: options.plain, shipped: here('../dist/turncore.wasm') };

const run = (program, ...args) => JSON.parse(execFileSync(program, args, { encoding: 'utf8' }));

/** Milliseconds of the first turn, by host and module. What lasts longer than a measurement goes to `after`. */
const hosts = {
  wazero(after) {
    const cache = mkdtempSync(join(tmpdir(), 'turncore-starts-'));
    after.push(() => rmSync(cache, { recursive: true }));
    const first = (file) =>
      run(options.go, '-start', 'wazero', '-cache', cache, '-module', file).Turn / 1e6;
    Object.values(modules).forEach(first); // fills the cache
    return first;
  },

  Node: () => (file) => run(process.execPath, here('start.mjs'), file).turn / 1e6,

  async Chromium(after) {
    // A page has no package by name: it loads the bundle.
    const conversation = readFileSync(here('conversation.mjs'), 'utf8');
    const files = {
      '/bench/conversation.mjs': conversation.replace("'turncore'", "'/dist/turncore.min.js'"),
    };
    for (const [name, file] of Object.entries(modules)) {
      files[`/modules/${name}.wasm`] = readFileSync(file);
    }
    const folders = {
      bench: new URL('./', import.meta.url),
      dist: new URL('../dist/', import.meta.url),
    };
    const server = await startPackageServer({ files, folders });
    after.push(() => server.stop());
    return async (file) => {
      const name = Object.keys(modules).find((each) => modules[each] === file);
      const browser = await launchChromium({ optimized: true });
      try {
        const page = await browser.newPage();
        await page.goto(server.address);
        return await page.evaluate(
          async (url) => (await import('/bench/first-turn.mjs')).firstTurn(url),
          `/modules/${name}.wasm`,
        );
      } finally {
        await browser.close();
      }
    };
  },

  // The isolate has compiled the module before it listens: a request finds what global scope has made.
  workerd: () => async (file) => {
    const worker = here('first-turn.worker.mjs');
    const workerd = await startWorkerd('127.0.0.1:9', { worker, module: file });
    try {
      const begun = now();
      const response = await fetch(workerd.address);
      const text = await response.text();
      const took = (now() - begun) / 1e6;
      if (!response.ok) throw new Error(text);
      return took;
    } finally {
      await workerd.stop();
    }
  },
};

async function measure(engine, open) {
  const after = [];
  try {
    const first = await open(after);
    const took = { plain: [], shipped: [] };
    for (let i = 0; i < Number(options.pairs); i++) {
      for (const name of i % 2 === 0 ? ['plain', 'shipped'] : ['shipped', 'plain']) {
        took[name].push(await first(modules[name]));
      }
    }
    const row = (figure, unit, samples) => ({ ...summarize(figure, unit, samples), engine });
    return {
      ratio: row(
        'start-ratio',
        '×',
        took.shipped.map((ms, i) => ms / took.plain[i]),
      ),
      plain: row('start-plain', 'ms', took.plain),
      shipped: row('start-shipped', 'ms', took.shipped),
    };
  } finally {
    for (const end of after) await end();
  }
}

const before = loadavg()[0];
const starts = [];
for (const [name, open] of Object.entries(hosts)) {
  if (options.host !== undefined && !options.host.includes(name)) continue;
  console.error(`first turns: ${name}`);
  starts.push(await measure(name, open));
}
const report = { host: 'First turns', load: [before, loadavg()[0]], rows: [], starts };
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, null, 2)}\n`);
else {
  const text = ({ median, p10, p90 }) =>
    `${median.toFixed(2)} (${p10.toFixed(2)} to ${p90.toFixed(2)})`;
  for (const { ratio, plain, shipped } of starts) {
    console.log(`${ratio.engine}: ${text(plain)} ms, ${text(shipped)} ms, ${text(ratio)} ×`);
  }
}

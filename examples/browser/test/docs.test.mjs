// The programs of "A model in the page" in docs/models.md: each compiles against the pinned packages, and runs in a
// page, with real llama.cpp or a stand-in of its library.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { after, before, test } from 'node:test';

import { scriptedGGUF } from '../model/scripted.mjs';
import { startDemo } from './start.mjs';
import { DESKTOP, startBrowser, stopBrowser, Visit } from './visit.mjs';

const root = new URL('../../../', import.meta.url);
const pathOf = (path) => fileURLToPath(new URL(path, root));
const { build } = createRequire(pathOf('js/package.json'))('esbuild');

/** What each program imports that is no part of Turncore, and what it says after the phases of loading. */
const PROGRAMS = {
  wllama: { library: '@wllama/wllama', says: /^I am scripted/ },
  'web-llm': { library: '@mlc-ai/web-llm', says: /^You said: Hello!$/ },
  transformers: { library: '@huggingface/transformers', says: /^You said: Hello!$/ },
  'prompt-api': { says: /^You said: Hello!$/ },
};

const programs = new Map();
let demo;

before(async () => {
  const text = await readFile(new URL('docs/models.md', root), 'utf8');
  const section = /^## A model in the page$(.*?)^## /ms.exec(text)[1];
  const blocks = [...section.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
  assert.equal(blocks.length, Object.keys(PROGRAMS).length);
  for (const [name, { library }] of Object.entries(PROGRAMS)) {
    const code = blocks.find((block) =>
      library === undefined ? !block.includes("from '@") : block.includes(`from '${library}'`),
    );
    programs.set(name, code);
  }
  await startBrowser();
  demo = await startDemo();
});
after(async () => {
  await stopBrowser();
  await demo?.stop();
});

test('each has at most 20 lines', () => {
  for (const [name, code] of programs) {
    assert.ok(code.split('\n').filter((line) => line.trim() !== '').length <= 20, name);
  }
});

test('each compiles against the pinned package', async () => {
  const folder = pathOf('build/page-programs/');
  await rm(folder, { recursive: true, force: true });
  await mkdir(`${folder}node_modules`, { recursive: true });
  await symlink(pathOf('js'), `${folder}node_modules/turncore`);
  for (const scope of ['@wllama', '@mlc-ai', '@huggingface', '@types', 'onnxruntime-common']) {
    await symlink(
      pathOf(`examples/browser/node_modules/${scope}`),
      `${folder}node_modules/${scope}`,
    );
  }
  for (const [name, code] of programs) await writeFile(`${folder}${name}.mjs`, code);
  await writeFile(
    `${folder}language-model.mts`,
    "import { promptAPIEngine } from 'turncore/models';\n" +
      'export const engine = promptAPIEngine({ languageModel: LanguageModel });\n',
  );
  const options = {
    allowJs: true,
    checkJs: true,
    exactOptionalPropertyTypes: true,
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'preserve',
    moduleResolution: 'bundler',
    noEmit: true,
    preserveSymlinks: true,
    skipLibCheck: true, // the libraries' own
    strict: true,
    target: 'es2022',
    types: ['dom-chromium-ai'],
  };
  const config = { compilerOptions: options, include: ['*.mjs', '*.mts'] };
  await writeFile(`${folder}tsconfig.json`, JSON.stringify(config));
  const tsc = pathOf('js/node_modules/typescript/lib/tsc.js');
  await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch(({ stdout }) =>
    assert.fail(stdout),
  );
});

for (const [name, { says }] of Object.entries(PROGRAMS)) {
  test(`${name}: runs in a page and answers`, async () => {
    const program = await bundle(programs.get(name));
    const visit = await Visit.to(demo.address, DESKTOP, {
      prepare: (page) => prepare(page, name, program),
      allowed: 'https://huggingface.co/Qwen/',
    });
    const { page } = visit;
    const said = [];
    const ended = new Promise((resolve) => {
      page.on('console', (message) => {
        if (message.type() !== 'log') return;
        said.push(message.text());
        if (says.test(message.text())) resolve();
      });
    });
    await page.evaluate(() => {
      document.body.prepend(document.createElement('button'));
      return import('/program.js');
    });
    if (name === 'prompt-api') await page.locator('button').first().click();
    await ended;
    assert.equal(said[0].trim(), 'loading');
    assert.equal(said.at(-2).trim(), 'ready');
    assert.match(said.join('\n'), /^loading 0\.\d|^compiling 1|^loading 1/m);
    await visit.leave();
  });
}

/** A program as one file. Turncore and wllama are the files that the demo's server has. */
async function bundle(code) {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: pathOf('examples/browser') },
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
    plugins: [{ name: 'page', setup: (setup) => setup.onResolve({ filter: /^[^.]/ }, resolve) }],
  });
  return outputFiles[0].text;
}

function resolve({ path, kind }) {
  if (kind === 'entry-point') return undefined;
  const external = {
    turncore: '/turncore/turncore.min.js',
    'turncore/models': '/turncore/models.min.js',
    '@wllama/wllama': '/libraries/wllama/index.js',
  }[path];
  if (external !== undefined) return { path: external, external: true };
  return { path: pathOf(`examples/browser/test/stand-ins/${path.split('/')[1]}.js`) };
}

/** Gives a page the program, what it asks of its own server, and the stand-in's answers. */
async function prepare(page, name, program) {
  const script = (body) => ({ contentType: 'text/javascript', body });
  await page.route('**/program.js', (route) => route.fulfill(script(program)));
  if (name === 'wllama') {
    await page.route('**/wllama.wasm', async (route) => {
      const path = 'examples/browser/node_modules/@wllama/wllama/esm/wasm/wllama.wasm';
      await route.fulfill({ contentType: 'application/wasm', path: pathOf(path) });
    });
    const body = Buffer.from(scriptedGGUF());
    const headers = {
      'access-control-allow-origin': '*',
      'access-control-expose-headers': '*',
      'content-length': String(body.length),
    };
    await page.route('https://huggingface.co/**', (route) =>
      route.fulfill(route.request().method() === 'HEAD' ? { headers } : { headers, body }),
    );
    return;
  }
  const standIn = (file) => pathOf(`examples/browser/test/stand-ins/${file}.js`);
  await page.addInitScript({ path: standIn('answers') });
  if (name === 'prompt-api') await page.addInitScript({ path: standIn(name) });
  await page.addInitScript('standIn.release()');
}

/**
 * Imports flow one way: no file and no folder of the package imports itself by way of others.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import test from 'node:test';

import ts from 'typescript';

const SOURCES = new URL('../../src/', import.meta.url);

/**
 * The arrows that point up, types only. A tool's handler takes the dispatch's context, which has the tools, and so does
 * the function of a dynamic text: these types are one recursive type of the API.
 */
const KNOWN = [
  'primitives/reader-context.ts -> context/dispatch-context.ts',
  'tools/tool.ts -> context/dispatch-context.ts',
];

/**
 * The arrows that point up and are followed late, by `import()` in a function: nothing is missing when files load.
 * Arguments are checked by the module, and what runs the module calls tools.
 */
const LATE = ['tools/tool.ts -> host/validate-arguments.ts'];

/** What names with `#` stand for in package.json: one of several files that export the same names. */
const CHOSEN: Readonly<Record<string, string>> = {
  '#engine': 'engine/late.ts',
  '#packaged': 'packaged/fetched.ts',
  '#remedies': 'remedies/late.ts',
};

/** Files that every place may import. They import `abi`, `remedies` and each other. */
const COMMON = [
  'agent-errors.ts',
  'attempt.ts',
  'awaitable.ts',
  'builtin.ts',
  'bytes.ts',
  'entropy.ts',
  'errors.ts',
  'known-codes.ts',
  'other-copy.ts',
  'session-errors.ts',
  'store-errors.ts',
  'stored-errors.ts',
];

/** The folders of the sources, and the files beside them, with what each imports. A place imports those above it. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  abi: [],
  remedies: ['abi'],
  wasi: [],
  'locate.ts': [],
  'module-url.ts': ['locate.ts'],
  'full-module-url.ts': ['locate.ts'],
  'wasm.ts': ['module-url.ts', 'full-module-url.ts'],
  packaged: ['locate.ts', 'module-url.ts', 'full-module-url.ts'],
  codec: ['abi'],
  'error-classes.gen.ts': [],
  stash: ['abi', 'codec'],
  validation: ['abi', 'stash'],
  instance: ['abi', 'wasi', 'locate.ts', 'packaged', 'codec'],
  simulated: ['abi', 'codec', 'validation'],
  journal: ['abi', 'codec', 'instance'],
  metering: ['instance', 'validation'],
  tools: ['abi', 'codec', 'stash', 'validation'],
  output: ['tools'],
  primitives: ['abi', 'codec', 'stash', 'validation', 'tools'],
  collections: ['abi', 'codec', 'primitives'],
  http: ['abi', 'codec', 'primitives'],
  readers: ['primitives'],
  chat: ['abi', 'codec', 'stash', 'validation', 'output', 'primitives', 'http'],
  events: ['abi', 'codec', 'validation', 'collections'],
  'local-models': ['abi', 'validation', 'chat'],
  sse: ['abi', 'codec', 'validation', 'events'],
  turn: [
    'abi',
    'codec',
    'instance',
    'stash',
    'journal',
    'tools',
    'primitives',
    'collections',
    'http',
    'readers',
    'chat',
    'events',
  ],
  context: [
    'abi',
    'codec',
    'stash',
    'validation',
    'tools',
    'primitives',
    'collections',
    'events',
    'turn',
  ],
  sessions: ['primitives', 'collections', 'context'],
  engine: ['remedies', 'instance', 'journal', 'turn', 'context', 'sessions'],
  host: ['abi', 'instance', 'journal', 'packaged', 'validation', 'tools', 'http', 'turn', 'engine'],
  middleware: ['context'],
  runners: [
    'abi',
    'codec',
    'stash',
    'validation',
    'tools',
    'output',
    'primitives',
    'collections',
    'chat',
    'events',
    'sse',
    'turn',
    'context',
    'host',
  ],
  remote: ['abi', 'stash', 'validation', 'events', 'sse', 'runners'],
  worker: [
    'abi',
    'validation',
    'tools',
    'primitives',
    'events',
    'sse',
    'context',
    'runners',
    'remote',
  ],
  store: [
    'primitives',
    'collections',
    'readers',
    'turn',
    'context',
    'sessions',
    'engine',
    'runners',
  ],
  stored: ['codec', 'validation', 'primitives', 'collections', 'sessions', 'store'],
  stores: [
    'abi',
    'validation',
    'primitives',
    'collections',
    'readers',
    'context',
    'sessions',
    'stored',
    'store',
  ],
  storetest: ['primitives', 'collections', 'readers', 'sessions', 'store', 'stored'],
  front: [
    'abi',
    'instance',
    'validation',
    'tools',
    'output',
    'primitives',
    'chat',
    'context',
    'host',
    'middleware',
    'runners',
    'store',
  ],
  invocations: [
    'abi',
    'codec',
    'stash',
    'tools',
    'primitives',
    'http',
    'chat',
    'turn',
    'validation',
    'context',
    'host',
    'store',
    'stores',
    'front',
  ],
  sessionstest: ['host', 'invocations', 'storetest'],
  agents: [
    'abi',
    'codec',
    'instance',
    'metering',
    'journal',
    'validation',
    'tools',
    'http',
    'chat',
    'events',
    'turn',
    'host',
    'runners',
    'store',
    'front',
    'worker',
  ],
  cli: [
    'abi',
    'codec',
    'wasm.ts',
    'instance',
    'simulated',
    'journal',
    'validation',
    'tools',
    'primitives',
    'http',
    'chat',
    'events',
    'sessions',
    'invocations',
    'runners',
    'stored',
    'store',
    'stores',
    'front',
  ],
  entries: [
    'abi',
    'error-classes.gen.ts',
    'instance',
    'journal',
    'validation',
    'tools',
    'output',
    'primitives',
    'collections',
    'http',
    'readers',
    'simulated',
    'chat',
    'events',
    'local-models',
    'context',
    'metering',
    'middleware',
    'runners',
    'remote',
    'worker',
    'sse',
    'stored',
    'sessions',
    'store',
    'stores',
    'sessionstest',
    'storetest',
    'front',
    'invocations',
    'agents',
  ],
  'index.ts': [
    'instance',
    'stash',
    'tools',
    'primitives',
    'collections',
    'readers',
    'chat',
    'events',
    'context',
    'host',
    'middleware',
    'runners',
    'store',
    'front',
  ],
  conformance: [
    'abi',
    'codec',
    'instance',
    'journal',
    'runners',
    'invocations',
    'entries',
    'index.ts',
  ],
};

/** One file imports another. */
interface Arrow {
  readonly from: string;
  readonly to: string;
  /** Whether it is gone when the types are. */
  readonly typeOnly: boolean;
}

/** The arrows out of a file, by paths from the folder of the sources. */
function arrowsOf(from: string, text: string): Arrow[] {
  const arrows: Arrow[] = [];
  const add = (target: ts.Node | undefined, typeOnly: boolean): void => {
    if (target === undefined || !ts.isStringLiteralLike(target)) return;
    const chosen = CHOSEN[target.text];
    if (chosen !== undefined) arrows.push({ from, to: chosen, typeOnly });
    if (!target.text.startsWith('.') || /\.wasm(\?module)?$/.test(target.text)) return;
    const to = posix.join(posix.dirname(from), target.text).replace(/\.js$/, '.ts');
    arrows.push({ from, to, typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      // `import { type A }` is kept as `import {}` in what the compiler writes: only `import type` goes away.
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    } else if (ts.isExportDeclaration(node)) {
      add(node.moduleSpecifier, node.isTypeOnly);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, true);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(from, text, ts.ScriptTarget.Latest));
  return arrows;
}

/** The same arrows between folders; a file that lies in none stands for itself. */
function betweenFolders(arrows: readonly Arrow[]): Arrow[] {
  const folder = (path: string): string => (path.includes('/') ? posix.dirname(path) : path);
  return arrows
    .map((arrow) => ({ ...arrow, from: folder(arrow.from), to: folder(arrow.to) }))
    .filter(({ from, to }) => from !== to);
}

/** One way round for each place from which there is one: `a -> b -> a`. Empty when imports flow one way. */
function cycles(arrows: readonly Arrow[]): string[] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of arrows) {
    const known = targets.get(from);
    if (known === undefined) targets.set(from, new Set([to]));
    else known.add(to);
  }
  const found: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const walk = (place: string): void => {
    const start = path.indexOf(place);
    if (start >= 0) {
      found.push([...path.slice(start), place].join(' -> '));
      return;
    }
    if (done.has(place)) return;
    path.push(place);
    for (const target of targets.get(place) ?? []) walk(target);
    path.pop();
    done.add(place);
  };
  for (const place of targets.keys()) walk(place);
  return found;
}

const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts'))
  .sort();
const all = files.flatMap((path) => arrowsOf(path, readFileSync(new URL(path, SOURCES), 'utf8')));
const prompt = all.filter(({ from, to }) => !LATE.includes(`${from} -> ${to}`));
const oneWay = prompt.filter(({ from, to }) => !KNOWN.includes(`${from} -> ${to}`));

test('every relative import names a file of the sources', () => {
  assert.ok(files.length > 100, `read ${files.length} files`);
  assert.ok(all.length > files.length, `read ${all.length} imports`);
  assert.deepEqual(
    all.filter(({ to }) => !files.includes(to)),
    [],
  );
});

test('every place imports what the table says, and what stands above it', () => {
  const imports = new Map<string, Set<string>>();
  for (const { from, to } of betweenFolders(oneWay)) {
    for (const place of [from, to]) if (!imports.has(place)) imports.set(place, new Set());
    if (!COMMON.includes(to)) imports.get(from)!.add(to);
  }
  const names = Object.keys(PLACES);
  assert.deepEqual(
    [...imports.keys()].filter((place) => !COMMON.includes(place)).sort(),
    names.toSorted(),
  );
  for (const place of COMMON) {
    assert.ok(
      [...(imports.get(place) ?? [])].every((to) => to === 'abi' || to === 'remedies'),
      place,
    );
  }
  names.forEach((place, i) => {
    assert.deepEqual([...imports.get(place)!].sort(), [...PLACES[place]!].sort(), place);
    assert.deepEqual(
      PLACES[place]!.filter((to) => !names.slice(0, i).includes(to)),
      [],
      `${place} stands above what it imports`,
    );
  });
});

test('no files import each other in a circle at run time', () => {
  assert.deepEqual(cycles(prompt.filter(({ typeOnly }) => !typeOnly)), []);
});

test('no folders import each other in a circle at run time', () => {
  assert.deepEqual(cycles(betweenFolders(prompt.filter(({ typeOnly }) => !typeOnly))), []);
});

test('no files import each other in a circle for types, but for the known arrows', () => {
  assert.deepEqual(cycles(oneWay), []);
});

test('no folders import each other in a circle for types, but for the known arrows', () => {
  assert.deepEqual(cycles(betweenFolders(oneWay)), []);
});

test('the known arrows are there, import types only and are needed for a circle', () => {
  for (const known of KNOWN) {
    const arrows = all.filter(({ from, to }) => `${from} -> ${to}` === known);
    assert.deepEqual(
      arrows.map(({ typeOnly }) => typeOnly),
      [true],
      known,
    );
    assert.notDeepEqual(cycles([...oneWay, ...arrows]), [], known);
  }
});

test('the late arrows are there, and are functions’ imports', () => {
  for (const late of LATE) {
    const [from = '', to = ''] = late.split(' -> ');
    const text = readFileSync(new URL(from, SOURCES), 'utf8');
    const name = posix.relative(posix.dirname(from), to).replace(/\.ts$/, '.js');
    assert.ok(text.includes(`await import('${name}')`), late);
    assert.equal(all.filter((arrow) => arrow.from === from && arrow.to === to).length, 1, late);
  }
});

test('circles are found, whatever form the imports have', () => {
  const forms: readonly (readonly [text: string, typeOnly: boolean])[] = [
    ["import { b } from './b.js';", false],
    ["import { type B } from './b.js';", false],
    ["import './b.js';", false],
    ["export * from './b.js';", false],
    ["export const load = () => import('./b.js');", false],
    ["import type { B } from './b.js';", true],
    ["export type { B } from './b.js';", true],
    ["export type C = import('./b.js').B;", true],
  ];
  const back = arrowsOf('x/b.ts', "import { a } from '../x/a.js';");
  for (const [text, typeOnly] of forms) {
    const arrows = arrowsOf('x/a.ts', text);
    assert.deepEqual(arrows, [{ from: 'x/a.ts', to: 'x/b.ts', typeOnly }], text);
    assert.deepEqual(cycles([...arrows, ...back]), ['x/a.ts -> x/b.ts -> x/a.ts'], text);
  }
  assert.deepEqual(cycles(back), []);
});

test('circles of folders are found where no files make one', () => {
  const arrows = [
    ...arrowsOf('x/a.ts', "import { c } from '../y/c.js';"),
    ...arrowsOf('y/d.ts', "import { b } from '../x/b.js';"),
  ];
  assert.deepEqual(cycles(arrows), []);
  assert.deepEqual(cycles(betweenFolders(arrows)), ['x -> y -> x']);
});

test('a circle is found behind a place that was walked before', () => {
  const arrows = [
    ...arrowsOf('a.ts', "import './b.js'; import './c.js';"),
    ...arrowsOf('c.ts', "import './b.js'; import './d.js';"),
    ...arrowsOf('d.ts', "import './e.js';"),
    ...arrowsOf('e.ts', "import './c.js';"),
  ];
  assert.deepEqual(cycles(arrows), ['c.ts -> d.ts -> e.ts -> c.ts']);
});

test('every generated function and constant of the ABI is used', () => {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const texts = files.map((path) => readFileSync(new URL(path, SOURCES), 'utf8'));
  const all = texts.join('\n');
  let names = 0;
  const unused: string[] = [];
  for (const path of ['abi/frames.gen.ts', 'codec/records.gen.ts', 'codec/tuples.gen.ts']) {
    const text = readFileSync(new URL(path, SOURCES), 'utf8');
    for (const [, name] of text.matchAll(/^export (?:const|function) (\w+)/gm)) {
      names++;
      if ((all.match(new RegExp(`\\b${name!}\\b`, 'g')) ?? []).length < 2) unused.push(name!);
    }
  }
  assert.ok(names > 100);
  assert.deepEqual(unused, []);
});

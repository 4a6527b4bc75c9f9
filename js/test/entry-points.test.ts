/**
 * The entry points of the package: how much the front door holds, that whatever a signature says can be imported, and
 * that an import does nothing.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';

import { build } from 'esbuild';
import ts from 'typescript';

const PACKAGE = new URL('../../', import.meta.url);
/** Names that the front door may hold at most, types included. */
const MOST = 70;

interface Manifest {
  readonly exports: Readonly<
    Record<string, string | { readonly types: string; readonly default: string }>
  >;
}

const manifest = JSON.parse(readFileSync(new URL('package.json', PACKAGE), 'utf8')) as Manifest;
/** The source of each entry point that is a program's, by its subpath. */
const sources = new Map(
  Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    typeof target === 'string' || !target.default.endsWith('.js')
      ? []
      : [[subpath, fileURLToPath(new URL(sourceOf(target.types), PACKAGE))] as const],
  ),
);

function sourceOf(types: string): string {
  return types.replace('./dist/', 'src/').replace('.d.ts', '.ts');
}

const program = ts.createProgram([...sources.values()], {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  strict: true,
  skipLibCheck: true,
  types: ['node'],
});
const checker = program.getTypeChecker();

/** What a symbol stands for. */
function original(symbol: ts.Symbol): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
}

/** What an entry point exports, values and types. */
function exportsOf(subpath: string): ts.Symbol[] {
  const file = program.getSourceFile(sources.get(subpath)!)!;
  return checker.getExportsOfModule(checker.getSymbolAtLocation(file)!);
}

/** Whether a declaration shows no user of the package. */
function isHidden(node: ts.Node): boolean {
  if (ts.isPrivateIdentifier((node as ts.NamedDeclaration).name ?? node)) return true;
  if (ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'internal')) return true;
  const flags = ts.canHaveModifiers(node) ? ts.getModifiers(node) : undefined;
  return flags?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword) === true;
}

/** Names of the package's own types that a declaration shows and that no entry point exports. */
function unexported(declaration: ts.Declaration, exported: ReadonlySet<ts.Symbol>): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (isHidden(node) || ts.isBlock(node)) return;
    // What a constant or a property begins with shows only where no type is said.
    if (ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) {
      if (node.type !== undefined) visit(node.type);
      return;
    }
    // What a class implements shows by its own members.
    if (ts.isHeritageClause(node) && node.token === ts.SyntaxKind.ImplementsKeyword) return;
    if (ts.isTypeReferenceNode(node)) {
      const target = ownSymbol(node.typeName);
      if (target !== undefined && !exported.has(target)) found.push(target.name);
    } else if (ts.isExpressionWithTypeArguments(node)) {
      // A base that is not exported shows by the members that it gives.
      const base = ownSymbol(node.expression);
      for (const at of base?.declarations ?? []) found.push(...unexported(at, exported));
    }
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(declaration, visit);
  return found;
}

const root = fileURLToPath(new URL('src/', PACKAGE)).replaceAll('\\', '/');

/** The type of the package that a name stands for; undefined for type parameters and for others' types. */
function ownSymbol(name: ts.Node): ts.Symbol | undefined {
  const symbol = checker.getSymbolAtLocation(name);
  if (symbol === undefined) return undefined;
  const target = original(symbol);
  const at = target.declarations?.[0];
  if (at === undefined || ts.isTypeParameterDeclaration(at)) return undefined;
  return at.getSourceFile().fileName.startsWith(root) ? target : undefined;
}

describe('entry points', () => {
  it('are described, each by a paragraph', () => {
    assert.ok(sources.size > 10, [...sources.keys()].join(' '));
    for (const path of sources.values()) {
      const [, head = ''] = /^\/\*\*\n([^]*?) \*\//.exec(readFileSync(path, 'utf8')) ?? [];
      assert.match(head, / \* @packageDocumentation\n$/, path);
      assert.ok(head.length > 80, path);
    }
  });

  it(`the front door holds at most ${MOST} names`, () => {
    const names = exportsOf('.').map(({ name }) => name);
    for (const wanted of ['createRunner', 'Tool', 'Host', 'DispatchExecutorFn']) {
      assert.ok(names.includes(wanted), wanted);
    }
    assert.ok(names.length <= MOST, `${names.length} names: ${names.sort().join(' ')}`);
  });

  it('no two entry points give one name to different things', () => {
    const things = new Map<string, ts.Symbol>();
    for (const subpath of sources.keys()) {
      if (subpath === './conformance') continue;
      for (const symbol of exportsOf(subpath)) {
        const thing = original(symbol);
        assert.equal(things.get(symbol.name) ?? thing, thing, `${subpath} ${symbol.name}`);
        things.set(symbol.name, thing);
      }
    }
    assert.ok(things.size > 250);
  });

  it('whatever types the exports show can be imported', () => {
    const all = [...sources.keys()].flatMap(exportsOf).map(original);
    const exported = new Set(all);
    const missing = new Set<string>();
    for (const symbol of exported) {
      for (const declaration of symbol.declarations ?? []) {
        for (const name of unexported(declaration, exported))
          missing.add(`${symbol.name}: ${name}`);
      }
    }
    assert.deepEqual([...missing].sort(), []);
  });

  it('a type that no entry point exports is found', () => {
    const host = exportsOf('.')
      .map(original)
      .find(({ name }) => name === 'HostOptions')!;
    const exported = new Set([...sources.keys()].flatMap(exportsOf).map(original));
    const credential = [...exported].find(({ name }) => name === 'Credential')!;
    assert.deepEqual(unexported(host.declarations![0]!, exported), []);
    exported.delete(credential);
    assert.deepEqual(unexported(host.declarations![0]!, exported), ['Credential']);
  });
});

/** Imports its arguments where nothing but code can be read, and nothing fetched. */
const IMPORT_IN_NODE = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

for (const api of [fs, fs.promises]) {
  for (const [name, call] of Object.entries(api)) {
    if (typeof call !== 'function' || /^[A-Z_]/.test(name)) continue;
    api[name] = (path, ...more) => {
      if (!/\\.js(on)?$/.test(String(path))) throw new Error(name + ' of ' + path);
      return call(path, ...more);
    };
  }
}
syncBuiltinESMExports();
globalThis.fetch = (url) => { throw new Error('fetch of ' + url); };

const [code, ...entries] = process.argv.slice(1);
await import(code).then(() => { throw new Error('a file was read'); }, ({ message }) => console.log(message));
for (const entry of entries) await import(entry);
console.log(entries.length);
`;
/** What the program before must notice. */
const READS_A_FILE = `data:text/javascript,
import { readFile } from 'node:fs/promises';
await readFile('turncore.wasm');`;

/** The first cells of a table's rows in docs/hosts.md, below a heading. */
function documented(heading: string, column: number): (string | undefined)[] {
  const page = readFileSync(new URL('../docs/hosts.md', PACKAGE), 'utf8');
  const [, section = ''] = new RegExp(`\n## ${heading}\n([^]*?)\n## `).exec(page) ?? [];
  const rows = [...section.matchAll(/^\|(.*)\|$/gm)].slice(2);
  return rows.map(([, row]) => /`([^`]+)`/.exec(row!.split('|')[column]!)?.[1]).sort();
}

describe('docs/hosts.md', () => {
  it('lists each entry point', () => {
    const subpaths = Object.keys(manifest.exports).filter((path) => path !== './package.json');
    assert.deepEqual(
      documented('Which module, which entry', 1),
      subpaths.map((path) => path.replace('.', 'turncore')).sort(),
    );
  });

  it('lists each option of a host', () => {
    const options = exportsOf('.').find(({ name }) => name === 'HostOptions')!;
    const names = checker.getDeclaredTypeOfSymbol(original(options)).getProperties();
    assert.deepEqual(documented('Host options', 0), names.map(({ name }) => name).sort());
  });
});

describe('an import does nothing:', () => {
  const files = [...sources.keys()].map((subpath) => {
    const { default: file } = manifest.exports[subpath] as { readonly default: string };
    return [subpath, new URL(file, PACKAGE)] as const;
  });

  it('a server that renders pages reads no file and fetches nothing', async () => {
    const args = ['--input-type=module', '--eval', IMPORT_IN_NODE, '--', READS_A_FILE];
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...args,
      ...files.map(([, url]) => url.href),
    ]);
    assert.equal(stdout, `readFile of turncore.wasm\n${files.length}\n`);
  });

  for (const [subpath, url] of files) {
    it(`a page of nothing imports ${subpath}`, async () => {
      const { outputFiles } = await build({
        entryPoints: [fileURLToPath(url)],
        write: false,
        bundle: true,
        format: 'iife',
        logLevel: 'error',
        logOverride: { 'empty-import-meta': 'silent' },
      });
      // No document, no fetch; and what a bundler may put in the place of Node's process is not looked at.
      const realm = { URL, TextEncoder, TextDecoder };
      Object.defineProperty(realm, 'process', {
        get: () => assert.fail('it looks for a process'),
      });
      runInNewContext(outputFiles[0]!.text, realm);
    });
  }
});

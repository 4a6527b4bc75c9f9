// Prints where declarations use the type `any`; exits 1 when one does. AnyParams may: no other type takes a function of
// any arguments, those of an interface included, and lets a function without types read them.
// Usage: node find-any.mjs FOLDER
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import ts from '../../js/node_modules/typescript/lib/typescript.js';

const folder = process.argv[2];
const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.d.ts'));
if (files.length === 0) throw new Error(`${folder} holds no declaration`);

for (const name of files) {
  const path = join(folder, name);
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  const visit = (node) => {
    if (ts.isTypeAliasDeclaration(node) && node.name.text === 'AnyParams') return;
    if (node.kind === ts.SyntaxKind.AnyKeyword) {
      const { line } = file.getLineAndCharacterOfPosition(node.getEnd());
      console.log(`${path}:${line + 1}: any`);
      process.exitCode = 1;
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}

/**
 * The requirements of a module: its exports, imports and ABI version.
 */
import { ABI_MAJOR, ABI_MINOR, Export } from '../abi/frames.gen.js';
import { TurncoreError } from '../errors.js';
import { WASI_FUNCTIONS, WASI_MODULE } from '../wasi/wasi.js';
import type { Confined } from './confine.js';

/** How a module was built. */
export type ModuleTarget =
  /** GOOS=wasip1 -buildmode=c-shared: imports WASI and runs everywhere. */
  | 'wasip1'
  /** GOOS=js: needs Go's wasm_exec.js. */
  | 'js';

/** The exported memory, and the exported functions. */
const exportsOf: Record<ModuleTarget, readonly [memory: string, ...functions: string[]]> = {
  wasip1: ['memory', '_initialize', Export.ABI, Export.Inbox, Export.Step],
  js: ['mem', 'run', Export.ABI, Export.Inbox, Export.Step],
};

/**
 * Checks a module's exports and imports.
 *
 * @throws TurncoreError E_INVALID_MODULE naming the missing exports or unknown imports
 */
export function checkModule(module: WebAssembly.Module): ModuleTarget {
  const imports = WebAssembly.Module.imports(module);
  const target: ModuleTarget = imports.some((i) => i.module === 'gojs') ? 'js' : 'wasip1';

  const exports = new Map(
    WebAssembly.Module.exports(module).map((e) => [e.name, e.kind as string]),
  );
  const [memory] = exportsOf[target];
  const kindOf = (name: string): string => (name === memory ? 'memory' : 'function');
  const missing = exportsOf[target].filter((name) => exports.get(name) !== kindOf(name));
  if (missing.length > 0) {
    const list = missing.map((name) => `${kindOf(name)} "${name}"`).join(', ');
    const details = { missing };
    throw TurncoreError.of('E_INVALID_MODULE', `${list} is not exported`, { details });
  }

  const unknown = imports.filter(
    (i) =>
      i.kind !== 'function' ||
      !(target === 'js'
        ? i.module === 'gojs'
        : i.module === WASI_MODULE && WASI_FUNCTIONS.has(i.name)),
  );
  if (unknown.length > 0) {
    const names = [...new Set(unknown.map((i) => `${i.module}.${i.name}`))];
    throw TurncoreError.of(
      'E_INVALID_MODULE',
      `it imports ${names.join(', ')}, which no host provides`,
      { details: { unknownImports: names } },
    );
  }
  return target;
}

/** Types of the functions that a module exports. */
const exportTypes: Readonly<Record<string, string>> = {
  _initialize: '[] -> []',
  turncore_abi: '[] -> [i32]',
  turncore_inbox: '[i32] -> [i32]',
  turncore_step: '[i32] -> [i64]',
};

/**
 * Checks the types of the functions that a module exports and imports, which the platform does not tell.
 *
 * @throws TurncoreError E_INVALID_MODULE naming each wrong one
 */
export function checkTypes({ imports, exports }: Pick<Confined, 'imports' | 'exports'>): void {
  const wrong: string[] = [];
  for (const { name, type } of exports) {
    const want = Object.hasOwn(exportTypes, name) ? exportTypes[name]! : type;
    if (type !== want) wrong.push(`${name} has type ${type} instead of ${want}`);
  }
  for (const { module, name, type } of imports) {
    const want = module === WASI_MODULE ? (WASI_FUNCTIONS.get(name) ?? type) : type;
    if (type !== want) {
      wrong.push(`it imports the function ${module}.${name} with type ${type} instead of ${want}`);
    }
  }
  if (wrong.length > 0) throw TurncoreError.of('E_INVALID_MODULE', wrong.join('; '));
}

/**
 * Checks the ABI version of a module.
 *
 * @throws TurncoreError E_ABI_VERSION naming both versions
 */
export function checkVersion(version: number): void {
  const major = version >>> 16;
  if (major === ABI_MAJOR) return;
  throw TurncoreError.of(
    'E_ABI_VERSION',
    `the module has ABI ${major}.${version & 0xffff}, this host has ${ABI_MAJOR}.${ABI_MINOR}: ` +
      'deploy the module and the JavaScript of one version of turncore',
    { details: { module: `${major}.${version & 0xffff}`, host: `${ABI_MAJOR}.${ABI_MINOR}` } },
  );
}

/**
 * The stash: JSON-like values under dotted paths, separate from the objects passed in and out.
 */
import { PHRASES, stashRules } from '../abi/rules.gen.js';
import { MAX_VALUE_DEPTH } from '../codec/value-path.js';
import { invalidValue, messageOf, TurncoreError } from '../errors.js';
import { copyOf, copyValue, defineData } from './copy-value.js';

/** The violations of the initial values of a stash, or of another field. */
export function stashViolations(stash: unknown, field = 'stash'): string[] {
  if (typeof stash !== 'object' || stash === null || Array.isArray(stash)) return []; // the rules report that
  try {
    copyValue(stash, field);
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}

type Node = Record<string, unknown> | unknown[];

/** The shared contents of stashes, which never change. */
export type Root = Record<string, unknown>;

/**
 * Receives the changes of host code to a context's stash: by the first part of the path, with the whole value under
 * it.
 */
export interface StashSink {
  /** The value under a key changed. @throws TurncoreError E_INVALID_VALUE for a value that cannot cross */
  set(key: string, value: unknown): void;
  /** A key was removed. */
  unset(key: string): void;
}

/** Bound on the length of a list when setting an index beyond its end. */
const MAX_LIST = 8192;

/**
 * A store of JSON-like values (null, booleans, numbers, strings, bytes, Dates, lists, plain objects) under dotted
 * paths such as `user.name` or `steps.0.done`. Values are copied when they are set and when they are read.
 *
 * A context's stash passes data between middleware, executor and tools. A dispatch begins with a copy of the turn's
 * stash; its changes stay in the dispatch.
 */
export class Stash {
  #root: Root;
  /** Nodes that no other stash has: these change in place, others are copied first. */
  #own: Set<Node> | undefined;
  #sink: StashSink | undefined;

  /**
   * @param initial initial values
   * @throws TurncoreError E_INVALID_INITIAL_REGISTRY_VALUE unless it is a plain object of JSON-like values
   */
  constructor(initial: Readonly<Record<string, unknown>> = {}) {
    if (typeof initial !== 'object' || initial === null || Array.isArray(initial)) {
      const why = PHRASES.type.replace('{type}', stashRules.title);
      throw TurncoreError.of('E_INVALID_INITIAL_REGISTRY_VALUE', why);
    }
    try {
      this.#root = copyValue(initial, 'value') as Root;
    } catch (error) {
      throw TurncoreError.of('E_INVALID_INITIAL_REGISTRY_VALUE', messageOf(error), {
        cause: error,
      });
    }
  }

  /**
   * A copy of the value under a path.
   *
   * @param fallback the result if there is no value
   */
  get(path: string, fallback?: unknown): unknown {
    const value = this.#find(path);
    return value === undefined ? fallback : copyOf(value);
  }

  /**
   * Sets the value under a path and creates missing objects on the path; a number as the next part creates a list.
   * Setting undefined removes the value.
   *
   * @returns this registry
   * @throws TurncoreError E_INVALID_VALUE for a value that is not JSON-like, or a path through a plain value
   */
  set(path: string, value: unknown): this {
    if (value === undefined) {
      this.delete(path);
      return this;
    }
    const parts = split(path);
    if (parts.length > MAX_VALUE_DEPTH + 1) {
      throw invalidValue(
        `${path.slice(0, 64)}…`,
        `the path has more than ${MAX_VALUE_DEPTH + 1} parts`,
      );
    }
    const copy = copyValue(value, path, parts.length - 1);
    let undo: (() => void) | undefined;
    let node: Node = this.#owned(this.#root, this.#setRoot);
    for (let i = 0; i < parts.length - 1; i++) {
      const part = parts[i]!;
      const parent = node;
      let child = read(parent, part);
      if (child === undefined) {
        undo ??= undoing(parent, part);
        child = isIndex(parts[i + 1]!) ? [] : {};
        this.#mark(child as Node);
        write(parent, part, child, path);
      } else if (!isNode(child)) {
        throw invalidValue(path, `${parts.slice(0, i + 1).join('.')} holds a value without parts`);
      }
      node = this.#owned(child as Node, (owned) => write(parent, part, owned, path));
    }
    const last = parts.at(-1)!;
    undo ??= undoing(node, last);
    try {
      write(node, last, copy, path);
      this.#report(parts[0]!);
    } catch (error) {
      undo();
      throw error;
    }
    return this;
  }

  /** Removes the value under a path and returns whether there was one. In a list, null replaces it. */
  delete(path: string): boolean {
    if (this.#find(path) === undefined) return false;
    const parts = split(path);
    let node: Node = this.#owned(this.#root, this.#setRoot);
    for (let i = 0; i < parts.length - 1; i++) {
      const part = parts[i]!;
      const parent = node;
      node = this.#owned(read(parent, part) as Node, (owned) => write(parent, part, owned, path));
    }
    const last = parts.at(-1)!;
    if (Array.isArray(node)) node[Number(last)] = null;
    else Reflect.deleteProperty(node, last);
    if (parts.length > 1) this.#report(parts[0]!);
    else this.#sink?.unset(path);
    return true;
  }

  /** Whether there is a value under a path. null, 0, false and "" are values. */
  has(path: string): boolean {
    return this.#find(path) !== undefined;
  }

  /** The paths of all values without parts; a list counts as one value. */
  keys(): string[] {
    const paths: string[] = [];
    collect(this.#root, '', paths);
    return paths;
  }

  /** A copy of everything. */
  all(): Record<string, unknown> {
    return copyOf(this.#root) as Record<string, unknown>;
  }

  /** A copy of everything. */
  toJSON(): Record<string, unknown> {
    return this.all();
  }

  /** @internal A registry that begins with shared values and reports changes. */
  static of(root: Root, sink: StashSink): Stash {
    const registry = new Stash();
    registry.share(root);
    registry.#sink = sink;
    return registry;
  }

  /**
   * @internal Everything, without a copy, for sharing: it never changes from now on.
   *
   * @param root what takes the place of everything before, without a report
   */
  share(root: Root = this.#root): Root {
    this.#own = undefined;
    this.#root = root;
    return root;
  }

  #find(path: string): unknown {
    let node: unknown = this.#root;
    for (const part of split(path)) {
      if (!isNode(node)) return undefined;
      node = read(node, part);
    }
    return node;
  }

  #report(key: string): void {
    this.#sink?.set(key, read(this.#root, key));
  }

  readonly #setRoot = (root: Node): void => {
    this.#root = root as Root;
  };

  #owned(node: Node, put: (copy: Node) => void): Node {
    if (this.#own?.has(node) === true) return node;
    const copy = Array.isArray(node) ? node.slice() : { ...node };
    this.#mark(copy);
    put(copy);
    return copy;
  }

  #mark(node: Node): void {
    this.#own ??= new Set();
    this.#own.add(node);
  }
}

function split(path: string): string[] {
  if (typeof path !== 'string' || path === '') {
    throw invalidValue('path', 'must be a non-empty string');
  }
  const parts = path.split('.');
  for (const part of parts) {
    if (part === '') throw invalidValue('path', `${path} is no path`);
  }
  return parts;
}

function isIndex(part: string): boolean {
  return /^(0|[1-9]\d{0,5})$/.test(part);
}

function isNode(value: unknown): value is Node {
  if (typeof value !== 'object' || value === null) return false;
  return !(value instanceof Uint8Array) && !(value instanceof Date);
}

function read(node: Node, part: string): unknown {
  if (Array.isArray(node)) return isIndex(part) ? node[Number(part)] : undefined;
  return Object.hasOwn(node, part) ? node[part] : undefined;
}

/** Undoes a change in a node. */
function undoing(node: Node, part: string): () => void {
  if (Array.isArray(node)) {
    const before = node.slice();
    return () => void node.splice(0, node.length, ...before);
  }
  if (!Object.hasOwn(node, part)) return () => void Reflect.deleteProperty(node, part);
  const old = node[part];
  return () => defineData(node, part, old);
}

function write(node: Node, part: string, value: unknown, path: string): void {
  if (!Array.isArray(node)) {
    if (part === '__proto__') defineData(node, part, value);
    else node[part] = value;
    return;
  }
  const index = isIndex(part) ? Number(part) : -1;
  if (index < 0 || index >= MAX_LIST) throw invalidValue(path, `${part} is no place in a list`);
  while (node.length < index) node.push(null);
  node[index] = value;
}

function collect(node: Record<string, unknown>, prefix: string, into: string[]): void {
  for (const key of Object.keys(node)) {
    const value = node[key];
    const path = prefix === '' ? key : `${prefix}.${key}`;
    if (isNode(value) && !Array.isArray(value) && Object.keys(value).length > 0) {
      collect(value, path, into);
    } else {
      into.push(path);
    }
  }
}

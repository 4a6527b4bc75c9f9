/**
 * Tools by name.
 */
import { invalidValue, requireList, TurncoreError } from '../errors.js';
import { type AnyTool, type CollisionPolicy, Tool } from './tool.js';

/** Where a context's registry reports what host code changed. */
export interface ToolSink {
  /** Makes a tool known to the module. @throws TurncoreError for a schema that it does not support */
  define(tool: AnyTool): void;
  registered(tool: AnyTool): void;
  unregistered(name: string): void;
  hidden(names: readonly string[]): void;
}

/** What can be acked: a dispatch's context. */
export interface AckSource {
  /** Calls a function once when it is acked. @returns a function that takes this back */
  onAck(handler: () => void): () => void;
}

/** What registries share until one of them changes. */
export interface ToolState {
  readonly tools: Map<string, AnyTool>;
  readonly hidden: Set<string>;
}

/** Settings of {@link ToolRegistry.merge}. */
export interface MergeOptions {
  /** What happens when a name is taken and the tool that comes does not say. Default "throw". */
  readonly onCollision?: CollisionPolicy | undefined;
}

/** An ordered set of tools by name. Hidden ones are there and can be called, but a model is not told of them. */
export class ToolRegistry implements Iterable<AnyTool> {
  #state: ToolState;
  #shared = false;
  #sink: ToolSink | undefined;

  /** @throws TurncoreError E_TOOL_ALREADY_REGISTERED when two tools have one name */
  constructor(tools: Iterable<AnyTool> = []) {
    requireList('tools', tools);
    this.#state = { tools: new Map(), hidden: new Set() };
    for (const tool of tools) this.register(tool);
  }

  /** How many tools it has, hidden ones included. */
  get size(): number {
    return this.#state.tools.size;
  }

  /**
   * Adds a tool.
   *
   * @param overwrite whether it takes the place of one with the same name
   * @returns this registry
   * @throws TurncoreError E_TOOL_ALREADY_REGISTERED, E_INVALID_VALUE for something that is not a Tool, and in a context
   *   E_INVALID_INITIAL_TOOL_VALUE for a schema that uses what is not supported
   */
  register(tool: AnyTool, overwrite = false): this {
    if (!(tool instanceof Tool)) throw invalidValue('tool', 'must be an instance of Tool');
    if (!overwrite && this.#state.tools.has(tool.name)) {
      throw TurncoreError.of('E_TOOL_ALREADY_REGISTERED', tool.name);
    }
    this.#sink?.define(tool);
    this.#own().tools.set(tool.name, tool);
    this.#sink?.registered(tool);
    return this;
  }

  /** Takes a tool away, and its name off the hidden ones. Tells whether it was there. */
  unregister(name: string): boolean {
    if (!this.#state.tools.has(name)) return false;
    const state = this.#own();
    state.tools.delete(name);
    this.#sink?.unregistered(name);
    if (state.hidden.delete(name)) this.#reportHidden();
    return true;
  }

  /** The tool of a name, hidden or not. */
  get(name: string): AnyTool | undefined {
    return this.#state.tools.get(name);
  }

  /** Tells whether there is a tool of this name, hidden or not. */
  has(name: string): boolean {
    return this.#state.tools.has(name);
  }

  /** All tools in order, hidden ones included: a fresh list. */
  all(): AnyTool[] {
    return [...this.#state.tools.values()];
  }

  /** The tools that a model is told of, in order: a fresh list. */
  visible(): AnyTool[] {
    return this.all().filter((tool) => !this.#state.hidden.has(tool.name));
  }

  /** The tools that are hidden, in order: a fresh list. */
  hidden(): AnyTool[] {
    return this.all().filter((tool) => this.#state.hidden.has(tool.name));
  }

  /**
   * Hides tools. Names that are not registered yet are hidden when they are.
   *
   * @returns this registry
   * @throws TurncoreError E_INVALID_VALUE for something that is not a name, such as a list
   */
  hide(...names: string[]): this {
    requireNames(names);
    const { hidden } = this.#own();
    for (const name of names) hidden.add(name);
    this.#reportHidden();
    return this;
  }

  /** Shows tools again. @returns this registry @throws TurncoreError E_INVALID_VALUE for something that is not a name */
  unhide(...names: string[]): this {
    requireNames(names);
    const { hidden } = this.#own();
    for (const name of names) hidden.delete(name);
    this.#reportHidden();
    return this;
  }

  /**
   * Hides these names and no others.
   *
   * @returns this registry
   * @throws TurncoreError E_INVALID_VALUE for something that is not a list of names
   */
  setHidden(names: Iterable<string>): this {
    requireList('names', names);
    const list = [...names];
    requireNames(list);
    const { hidden } = this.#own();
    hidden.clear();
    for (const name of list) hidden.add(name);
    this.#reportHidden();
    return this;
  }

  /** Shows all tools. @returns this registry */
  clearHidden(): this {
    return this.setHidden([]);
  }

  /** Takes away the tools that are ephemeral. @returns this registry */
  pruneEphemeral(): this {
    for (const tool of this.all()) if (tool.ephemeral) this.unregister(tool.name);
    return this;
  }

  /** Prunes ephemeral tools when the dispatch acks. @returns a function that takes this back */
  bindContext(ctx: AckSource): () => void {
    if (typeof (ctx as Partial<AckSource> | undefined)?.onAck !== 'function') {
      throw invalidValue('ctx', 'must be a DispatchContext');
    }
    return ctx.onAck(() => this.pruneEphemeral());
  }

  /**
   * A registry of the tools of several, which stay as they are. A tool that comes with a name that is taken goes by its
   * own `onCollision` when that is "replace" or "keep", and by the given policy otherwise.
   *
   * @throws TurncoreError E_TOOL_ALREADY_REGISTERED, E_INVALID_VALUE
   */
  static merge(registries: Iterable<ToolRegistry>, options: MergeOptions = {}): ToolRegistry {
    requireList('registries', registries);
    const merged = new ToolRegistry();
    const policy = options.onCollision ?? 'throw';
    if (!['throw', 'replace', 'keep'].includes(policy)) {
      throw invalidValue('onCollision', 'must be one of "throw", "replace", "keep"');
    }
    for (const registry of registries) {
      if (!(registry instanceof ToolRegistry)) {
        throw invalidValue('registries', 'must be instances of ToolRegistry');
      }
      for (const tool of registry.#state.tools.values()) {
        const how = tool.onCollision === 'throw' ? policy : tool.onCollision;
        if (how === 'keep' && merged.has(tool.name)) continue;
        merged.register(tool, how === 'replace');
      }
      for (const name of registry.#state.hidden) {
        if (registry.has(name)) merged.#state.hidden.add(name);
      }
    }
    return merged;
  }

  /** The tools in order, hidden ones included. */
  [Symbol.iterator](): IterableIterator<AnyTool> {
    return this.all()[Symbol.iterator]();
  }

  /** @internal A registry that begins with shared tools and reports what changes. */
  static of(state: ToolState, sink: ToolSink): ToolRegistry {
    const registry = new ToolRegistry();
    registry.#state = state;
    registry.#shared = true;
    registry.#sink = sink;
    return registry;
  }

  /** @internal What it holds, to be shared: it is copied before this registry changes. */
  snapshot(): ToolState {
    this.#shared = true;
    return this.#state;
  }

  /** @internal Makes it hold these tools: the module changed its own. */
  mirror(tools: readonly AnyTool[]): void {
    const state = this.#own();
    state.tools.clear();
    for (const tool of tools) state.tools.set(tool.name, tool);
  }

  #own(): ToolState {
    if (this.#shared) {
      this.#state = { tools: new Map(this.#state.tools), hidden: new Set(this.#state.hidden) };
      this.#shared = false;
    }
    return this.#state;
  }

  #reportHidden(): void {
    this.#sink?.hidden([...this.#state.hidden]);
  }
}

/** @throws TurncoreError E_INVALID_VALUE unless they are strings */
function requireNames(names: readonly unknown[]): void {
  for (const [i, name] of names.entries()) {
    if (typeof name !== 'string') throw invalidValue(`names[${i}]`, 'must be a string');
  }
}

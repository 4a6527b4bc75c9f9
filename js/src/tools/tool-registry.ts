/**
 * Tools by name.
 */
import { invalidValue, requireList, TurncoreError } from '../errors.js';
import { isTool } from './is-tool.js';
import type { AnyTool, CollisionPolicy } from './tool.js';

/** Receives the changes of host code to a context's registry. */
export interface ToolSink {
  /** Defines a tool in the module. @throws TurncoreError for an unsupported schema */
  define(tool: AnyTool): void;
  registered(tool: AnyTool): void;
  unregistered(name: string): void;
  hidden(names: readonly string[]): void;
}

/** An object that can be acked: a dispatch's context. */
export interface AckSource {
  /** Calls a function once when it is acked. @returns a function that removes it */
  onAck(handler: () => void): () => void;
}

/** The contents that registries share until one of them changes. */
export interface ToolState {
  readonly tools: Map<string, AnyTool>;
  readonly hidden: Set<string>;
}

/** Settings of {@link ToolRegistry.merge}. */
export interface MergeOptions {
  /** The action when a name is taken and the new tool has no policy of its own. Default "throw". */
  readonly onCollision?: CollisionPolicy | undefined;
}

/** An ordered set of tools by name. Hidden tools exist and can be called, but the model does not see them. */
export class ToolRegistry implements Iterable<AnyTool> {
  #state: ToolState;
  #shared = false;
  #sink: ToolSink | undefined;

  /** @throws TurncoreError E_TOOL_ALREADY_REGISTERED if two tools share a name */
  constructor(tools: Iterable<AnyTool> = []) {
    requireList('tools', tools);
    this.#state = { tools: new Map(), hidden: new Set() };
    for (const tool of tools) this.register(tool);
  }

  /** The number of tools, including hidden ones. */
  get size(): number {
    return this.#state.tools.size;
  }

  /**
   * Adds a tool.
   *
   * @param overwrite whether it replaces a tool of the same name
   * @returns this registry
   * @throws TurncoreError E_TOOL_ALREADY_REGISTERED, E_INVALID_VALUE for anything but a Tool, and in a context
   * E_INVALID_INITIAL_TOOL_VALUE for a schema with unsupported features
   */
  register(tool: AnyTool, overwrite = false): this {
    if (!isTool(tool)) throw invalidValue('tool', 'must be an instance of Tool');
    if (!overwrite && this.#state.tools.has(tool.name)) {
      throw TurncoreError.of('E_TOOL_ALREADY_REGISTERED', tool.name);
    }
    this.#sink?.define(tool);
    this.#own().tools.set(tool.name, tool);
    this.#sink?.registered(tool);
    return this;
  }

  /** Removes a tool and unhides its name. Returns whether the tool existed. */
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

  /** Whether there is a tool of this name, hidden or not. */
  has(name: string): boolean {
    return this.#state.tools.has(name);
  }

  /** All tools in order, including hidden ones: a fresh list. */
  all(): AnyTool[] {
    return [...this.#state.tools.values()];
  }

  /** The visible tools, in order: a fresh list. */
  visible(): AnyTool[] {
    return this.all().filter((tool) => !this.#state.hidden.has(tool.name));
  }

  /** The hidden tools, in order: a fresh list. */
  hidden(): AnyTool[] {
    return this.all().filter((tool) => this.#state.hidden.has(tool.name));
  }

  /**
   * Hides tools. A name that is not registered yet is hidden once it is.
   *
   * @returns this registry
   * @throws TurncoreError E_INVALID_VALUE for anything that is not a name, such as a list
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
   * Hides exactly these names.
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

  /** Removes the ephemeral tools. @returns this registry */
  pruneEphemeral(): this {
    for (const tool of this.all()) if (tool.ephemeral) this.unregister(tool.name);
    return this;
  }

  /** Prunes ephemeral tools when the dispatch acks. @returns a function that undoes this */
  bindContext(ctx: AckSource): () => void {
    if (typeof (ctx as Partial<AckSource> | undefined)?.onAck !== 'function') {
      throw invalidValue('ctx', 'must be a DispatchContext');
    }
    return ctx.onAck(() => this.pruneEphemeral());
  }

  /**
   * Merges several registries, which do not change, into a new one. If a name is taken, the later tool's
   * `onCollision` decides if it is "replace" or "keep", otherwise the given policy.
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

  /** The tools in order, including hidden ones. */
  [Symbol.iterator](): IterableIterator<AnyTool> {
    return this.all()[Symbol.iterator]();
  }

  /** @internal A registry that begins with shared tools and reports changes. */
  static of(state: ToolState, sink: ToolSink): ToolRegistry {
    const registry = new ToolRegistry();
    registry.#state = state;
    registry.#shared = true;
    registry.#sink = sink;
    return registry;
  }

  /** @internal Its contents for sharing: they are copied before this registry changes. */
  snapshot(): ToolState {
    this.#shared = true;
    return this.#state;
  }

  /** @internal Sets its tools: the module changed its own. */
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

/**
 * The tools of one turn, by number: its runner's, its own, and those that the module made.
 */
import type { ToolDef } from '../codec/tuples.gen.js';
import { wrongFrame } from '../codec/decoder.js';
import { TurncoreError } from '../errors.js';
import type { AnyTool } from '../tools/tool.js';
import type { OpenTurn } from './contract.js';
import { ModuleTools, requireOwnTool } from './module-tools.js';

/** The first number of a turn's own tools. */
const FIRST_OWN = 65536;

/** The tools of one turn. */
export class TurnTools {
  readonly #turn: OpenTurn;
  #own: Map<AnyTool, number> | undefined;
  #made: ModuleTools | undefined;

  constructor(turn: OpenTurn) {
    this.#turn = turn;
  }

  /**
   * The number of a tool, which is defined in the module if necessary.
   *
   * @throws TurncoreError E_INVALID_INITIAL_TOOL_VALUE for a schema that it does not support, E_INVALID_VALUE for a
   *   tool that a module made in another turn
   */
  numberOf(tool: AnyTool): number {
    const number =
      this.#turn.definition.toolNumbers.get(tool) ??
      this.#own?.get(tool) ??
      this.#made?.numberOf(tool);
    if (number !== undefined) return number;
    requireOwnTool(tool);
    if (this.#turn.ended) throw TurncoreError.of('E_CALL_AFTER_END', 'the turn has ended');
    this.#own ??= new Map();
    const own = FIRST_OWN + this.#own.size;
    this.#turn.core.defineTool(this.#turn, own, tool);
    this.#own.set(tool, own);
    return own;
  }

  /** The program's tools: the runner's and the turn's own. */
  all(): AnyTool[] {
    return [...this.#turn.definition.toolNumbers.keys(), ...(this.#own?.keys() ?? [])];
  }

  /** The tool of a number. @throws CodecError if there is none */
  get(number: number): AnyTool {
    const tool = this.#turn.definition.tools[number - 1] ?? this.#made?.get(number);
    if (tool !== undefined) return tool;
    for (const [own, n] of this.#own ?? []) if (n === number) return own;
    throw wrongFrame(`unknown tool ${number}`);
  }

  /** Takes the definition of a tool that the module made. @throws CodecError if it is malformed */
  define(def: ToolDef): void {
    (this.#made ??= new ModuleTools()).define(def);
  }
}

/**
 * Host objects for tools whose handlers run in the module, such as the readers of artifacts.
 */
import { ToolFlag } from '../abi/frames.gen.js';
import type { ToolDef } from '../codec/tuples.gen.js';
import { wrongFrame } from '../codec/decoder.js';
import { TurncoreError } from '../errors.js';
import { type AnyTool, ArtifactTool, type ObjectSchema, Tool } from '../tools/tool.js';

/** The lowest number of a tool that the module made. */
const FIRST_MADE = 0x80000000;

/** The tools that the module made in one turn. */
export class ModuleTools {
  readonly #tools = new Map<number, AnyTool>();
  readonly #numbers = new Map<AnyTool, number>();

  /** Takes a ToolDef. @throws CodecError if it is malformed */
  define(def: ToolDef): void {
    const { number } = def;
    if (number < FIRST_MADE || this.#tools.has(number)) {
      throw wrongFrame(`malformed number ${number} of a tool`);
    }
    const tool = made(def);
    this.#tools.set(number, tool);
    this.#numbers.set(tool, number);
    everMade.add(tool);
  }

  /** The tool of a number. */
  get(number: number): AnyTool | undefined {
    return this.#tools.get(number);
  }

  /** The number of a tool. */
  numberOf(tool: AnyTool): number | undefined {
    return this.#numbers.get(tool);
  }
}

const everMade = new WeakSet<AnyTool>();

/** @throws TurncoreError E_INVALID_VALUE for a tool that a module made in another turn: only that turn can run it */
export function requireOwnTool(tool: AnyTool): void {
  if (everMade.has(tool)) throw otherTurn(tool.name);
}

function otherTurn(name: string): TurncoreError {
  return TurncoreError.of('E_INVALID_VALUE', `tool: ${name} belongs to another turn`);
}

function made({ name, description, inputSchema, flags }: ToolDef): AnyTool {
  try {
    const Class = (flags & ToolFlag.Artifact) !== 0 ? ArtifactTool : Tool;
    return new Class({
      name,
      description,
      inputSchema: inputSchema as ObjectSchema,
      // Calls go to the module by the tool's number and never reach a handler on the host.
      handler: () => {
        throw otherTurn(name);
      },
      ephemeral: (flags & ToolFlag.Ephemeral) !== 0,
      trusted: (flags & ToolFlag.Trusted) !== 0,
      onCollision: 'replace',
    });
  } catch (error) {
    throw wrongFrame(`malformed tool: ${String(error)}`);
  }
}

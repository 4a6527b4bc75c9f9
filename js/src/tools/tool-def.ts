/**
 * Definitions of tools for the module.
 */
import { Collision, ToolFlag } from '../abi/frames.gen.js';
import type { ToolDef } from '../codec/tuples.gen.js';
import { builtinOf } from '../builtin.js';
import type { Write } from '../codec/encoder.js';
import { isStandardSchema } from './standard-schema.js';
import { type AnyTool, ArtifactTool, type CollisionPolicy } from './tool.js';

const collisions: Readonly<Record<CollisionPolicy, number>> = {
  throw: Collision.Throw,
  replace: Collision.Replace,
  keep: Collision.Keep,
};

/** A tool's definition for the module. */
export function toolDef(number: number, tool: AnyTool): ToolDef<Write | null> {
  const builtin = builtinOf(tool.handler);
  const argument = builtin?.argument;
  return {
    number,
    name: tool.name,
    description: tool.description,
    inputSchema: (e) => e.value(tool.jsonSchema, 'inputSchema'),
    flags:
      (tool.trusted ? ToolFlag.Trusted : 0) |
      (tool.ephemeral ? ToolFlag.Ephemeral : 0) |
      (isStandardSchema(tool.inputSchema) ? ToolFlag.Validates : 0) |
      (tool instanceof ArtifactTool ? ToolFlag.Artifact : 0),
    onCollision: collisions[tool.onCollision],
    builtin: builtin?.name ?? '',
    arg: argument === undefined ? null : (e) => e.value(argument, 'argument'),
  };
}

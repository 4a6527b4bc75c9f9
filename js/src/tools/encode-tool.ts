/**
 * How the module is told of tools.
 */
import { ToolFlag } from '../abi/frames.gen.js';
import { builtinOf } from '../builtin.js';
import type { Encoder } from '../codec/encoder.js';
import { isStandardSchema } from './standard-schema.js';
import { type AnyTool, ArtifactTool, type CollisionPolicy } from './tool.js';

const collisions: readonly CollisionPolicy[] = ['throw', 'replace', 'keep'];

/** Writes a tool's definition for the module. */
export function encodeTool(enc: Encoder, number: number, tool: AnyTool): void {
  enc.arrayHeader(8);
  enc.int(number);
  enc.str(tool.name);
  enc.str(tool.description);
  enc.value(tool.jsonSchema, 'inputSchema');
  enc.int(
    (tool.trusted ? ToolFlag.Trusted : 0) |
      (tool.ephemeral ? ToolFlag.Ephemeral : 0) |
      (isStandardSchema(tool.inputSchema) ? ToolFlag.Validates : 0) |
      (tool instanceof ArtifactTool ? ToolFlag.Artifact : 0),
  );
  enc.int(collisions.indexOf(tool.onCollision));
  const builtin = builtinOf(tool.handler);
  enc.str(builtin?.name ?? '');
  if (builtin?.argument === undefined) enc.nil();
  else enc.value(builtin.argument, 'argument');
}

/**
 * Tools that scenarios describe.
 */
import { isThenable } from '../awaitable.js';
import { ArtifactTool, SpooledArtifact, Tool } from '../index.js';
import { type AnyContext } from '../entries/runners.js';
import { type AnyTool } from '../entries/tools.js';
import { Refusal, type Script, type ToolSpec } from './scenario.js';
import type { Stage } from './stage.js';
import { then } from './then.js';

/** Makes a tool. @throws what its constructor throws */
export function makeTool(stage: Stage, key: string, spec: ToolSpec): AnyTool {
  const { handler, validate, artifact, artifactConstructor, ...given } = spec;
  const raw: Record<string, unknown> = {
    name: key,
    description: key,
    inputSchema: { type: 'object' },
    ...given,
  };
  if (validate !== undefined) {
    raw['jsonSchema'] = raw['inputSchema'];
    raw['inputSchema'] = ownSchema(stage, key, validate);
  }
  if (artifactConstructor !== undefined) {
    raw['artifactConstructor'] = classOf(stage, key, artifactConstructor);
  }
  if (handler !== undefined) {
    raw['handler'] = (args: unknown, ctx: AnyContext) =>
      stage.call(`tool ${key}`, ctx, handler, args);
  }
  return artifact === true ? new ArtifactTool(raw as never) : new Tool(raw as never);
}

/**
 * A schema that validates by a script: what the script returns takes the place of the arguments; `{instead: value}`
 * takes the place of the whole answer.
 */
function ownSchema(stage: Stage, key: string, script: Script): unknown {
  const answer = (value: unknown, args: unknown): unknown => {
    if (value instanceof Refusal) return { issues: [{ message: value.message }] };
    const { instead } = (value ?? {}) as { instead?: unknown };
    return instead === undefined ? { value: value ?? args } : instead;
  };
  const validate = (args: unknown): unknown => {
    try {
      const got = stage.call(`validate ${key}`, undefined, script, args);
      const settled = isThenable(got) ? got.then(undefined, refused) : got;
      return then(settled, (value) => answer(value, args));
    } catch (error) {
      return answer(refused(error), args);
    }
  };
  return { '~standard': { version: 1, vendor: 'scenario', validate } };
}

/** The refusal that a validation threw. @throws what is none */
function refused(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error as Error;
}

/** What gives the class of a tool's artifacts: the name of a class, a script that returns one, or anything that is not a function. */
function classOf(stage: Stage, key: string, of: unknown): unknown {
  const named = (value: unknown): unknown =>
    value === 'SpooledArtifact' ? SpooledArtifact : value;
  if (of === 'SpooledArtifact') return () => SpooledArtifact;
  if (!Array.isArray(of)) return of;
  return () => named(stage.callNow(`artifactConstructor ${key}`, undefined, of as Script));
}

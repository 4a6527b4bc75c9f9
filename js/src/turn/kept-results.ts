/**
 * Results that stay on the host: those for host code, and artifacts and media for a model.
 */
import { base64 } from '../codec/canonical-json.js';
import { decodeValue } from '../codec/decoder.js';
import { Encoder } from '../codec/encoder.js';
import { type ArtifactClass, SpooledArtifact } from '../primitives/spooled-artifact.js';
import { SpooledJsonArtifact } from '../primitives/spooled-json-artifact.js';
import { Tokenizable } from '../primitives/tokenizable.js';
import { bulkyResults } from '../primitives/tool-call.js';
import { MemoryReader } from '../readers/memory-reader.js';
import type { AnyTool } from '../tools/tool.js';
import type { Effect } from './effect.js';
import { sizesOf } from './spool.js';

/**
 * Settles a model's call. Text and values go to the module. An artifact, a media or a list of either stays here, and
 * the module gets a description of it.
 *
 * @param spool bytes of text beyond which a result becomes an artifact; 0 for none
 */
export function settleForModel(
  effect: Effect,
  tool: AnyTool,
  returned: unknown,
  spool: number,
): void {
  const { turn, number, state } = effect;
  effect.perform(
    () => {
      let result = inItsClass(tool, returned);
      if (result instanceof Tokenizable) result = result.toString();
      if (spool > 0) result = spooled(result, spool);
      const kept = bulkyResults(result);
      if (kept === undefined) return result;
      turn.edits.kept(state.number, number, kept);
      turn.keep(number, kept);
      return undefined;
    },
    (value) => effect.settle(value),
  );
}

/** A text as an artifact of the tool's class, if it names one; any other result unchanged. */
function inItsClass(tool: AnyTool, result: unknown): unknown {
  if (tool.artifactConstructor === undefined) return result;
  let text: string;
  if (typeof result === 'string') text = result;
  else if (result instanceof Tokenizable) text = result.toString();
  else if (result instanceof Uint8Array) text = new TextDecoder().decode(result);
  else return result;
  const Class = tool.artifactConstructor() as ArtifactClass;
  return new Class(new MemoryReader(text), sizesOf(text));
}

/** A result as an artifact if its text or its JSON has more bytes than the limit; otherwise unchanged. */
function spooled(result: unknown, limit: number): unknown {
  if (result instanceof SpooledArtifact || bulkyResults(result) !== undefined) return result;
  let text = typeof result === 'string' ? result : undefined;
  if (result instanceof Uint8Array) text = textOf(result);
  if (text !== undefined) {
    if (text.length * 3 <= limit) return result;
    const sizes = sizesOf(text);
    if (sizes.byteLength <= limit) return result;
    return new SpooledArtifact(new MemoryReader(text), sizes);
  }
  if (typeof result !== 'object' || result === null) return result;
  const enc = new Encoder();
  enc.value(result, 'result');
  const bytes = enc.bytes();
  if (bytes.length * MOST_JSON <= limit) return result;
  const json = JSON.stringify(decodeValue(bytes), withBytes);
  const sizes = sizesOf(json);
  return sizes.byteLength <= limit
    ? result
    : new SpooledJsonArtifact(new MemoryReader(json), sizes);
}

/** The most bytes of JSON for one byte of a value: six for a control character in a text, and a comma. */
const MOST_JSON = 7;

function withBytes(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? base64(value) : value;
}

/** Bytes as text; undefined if they are not UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

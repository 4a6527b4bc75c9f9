/**
 * Effects of artifacts: texts that the module has spooled, lines that it reads, tokens that it
 * counts, tools that classes of artifacts add.
 */
import { Method, Read } from '../abi/frames.gen.js';
import {
  type EstimateArgs,
  type ForgeArgs,
  type ReadArgs,
  type ReadResult,
  type SpoolArgs,
  writeItem,
  writeReadResult,
} from '../codec/tuples.gen.js';
import { wrongFrame } from '../codec/decoder.js';
import { type Encoder, utf8Length } from '../codec/encoder.js';
import { TurncoreError } from '../errors.js';
import { encodeBody } from '../primitives/body.js';
import { requireSize, requireString } from '../primitives/readers.js';
import { Retrievable } from '../primitives/retrievable.js';
import { SpooledArtifact } from '../primitives/spooled-artifact.js';
import { ToolCall } from '../primitives/tool-call.js';
import type { AnyTool } from '../tools/tool.js';
import { artifactClasses } from './artifact-classes.js';
import type { ContextState } from './context-state.js';
import type { Effect } from './effect.js';
import { mediaOf } from '../http/splice.js';
import { spoolRetrievable } from './spool.js';

/** Tools that artifact classes made. Those of the next iteration replace them. */
const forged = new WeakSet<AnyTool>();

/** Stores the text of a retrieved document, and answers with a document that reads it from there. */
export function runSpool(effect: Effect, { handle }: SpoolArgs): void {
  const { turn } = effect;
  const record = turn.handles.entryOf(handle);
  if (!(record instanceof Retrievable)) {
    throw wrongFrame(`${handle} is no retrievable`);
  }
  const ctx = effect.writing();
  spoolRetrievable(ctx, turn.definition.callbacks.storeRetrievableBytes, record).then(
    (spooled) => settleItem(effect, record, spooled),
    (error: unknown) => effect.fail(error),
  );
}

function settleItem(effect: Effect, record: Retrievable, spooled: Retrievable): void {
  const item = (e: Encoder): void =>
    writeItem(e, {
      handle: effect.turn.handles.assign(spooled),
      data: (body) => spooled[encodeBody](body),
    });
  effect.settleWith(spooled === record ? null : item);
}

/** Reads lines of an artifact, or its whole text. */
export function runRead(effect: Effect, args: ReadArgs): void {
  const { turn, state } = effect;
  const { handle, part, read } = args;
  const entry = turn.handles.entryOf(handle);
  const media = mediaOf(entry, part);
  const settle = (answer: ReadResult): void => effect.settleWith((e) => writeReadResult(e, answer));
  const fail = (error: unknown): void => effect.fail(error);
  if (media !== undefined && read === Read.Size) {
    media
      .byteLength()
      .then(
        (size) => settle({ bytes: size ?? 0, count: size === undefined ? 0 : 1, lines: [] }),
        fail,
      );
    return;
  }
  readArtifact(state, requireArtifact(entry, handle, part), args).then(settle, fail);
}

/** The artifact at a place in the record of a handle. @throws CodecError if there is none */
function requireArtifact(entry: unknown, handle: number, part: number): SpooledArtifact {
  const artifact = artifactOf(entry, part);
  if (artifact !== undefined) return artifact;
  throw wrongFrame(`part ${part} of ${handle} is no artifact`);
}

/** The artifact at a place in a record. */
function artifactOf(entry: unknown, part: number): SpooledArtifact | undefined {
  let found: unknown;
  if (entry instanceof Retrievable) found = [entry.content][part];
  else if (entry instanceof ToolCall) found = [entry.results].flat()[part];
  return found instanceof SpooledArtifact ? found : undefined;
}

/** Reads what the reader has. Size hints are for handles: they bound no reading. */
async function readArtifact(
  state: ContextState,
  artifact: SpooledArtifact,
  { read: how, from, to, max }: ReadArgs,
): Promise<ReadResult> {
  const { reader } = artifact;
  const bytes = requireSize('byteLength', await reader.byteLength());
  const count = requireSize('lineCount', await reader.lineCount());
  if (how === Read.Size) return { bytes, count, lines: [] };
  if (how === Read.Text) {
    if (bytes > max) throw tooLarge('a text', bytes, max);
    const text = requireString('readAll', await artifact.asString());
    const length = utf8Length(text);
    if (length > max) throw tooLarge('a text', length, max);
    return { bytes, count, lines: [text] };
  }
  if (how !== Read.Lines) throw wrongFrame(`unknown read ${how}`);
  const lines: string[] = [];
  let room = max;
  for (let i = from; i < to && i < count; i++) {
    if (state.aborted) throw state.reason as Error;
    const read = reader.line(i);
    const line = typeof read === 'string' || read === undefined ? read : await read;
    if (line === undefined) break;
    room -= utf8Length(requireString(`line(${i})`, line));
    if (room < 0) {
      if (lines.length > 0) break;
      throw tooLarge(`line ${i}`, max - room, max);
    }
    lines.push(line);
  }
  return { bytes, count, lines };
}

function tooLarge(what: string, size: number, most: number): TurncoreError {
  const why = `${what} of ${size} bytes, at most ${most} are read at once`;
  return TurncoreError.of('E_ARTIFACT_TOO_LARGE', why);
}

/** Counts tokens of texts, or of an artifact's text, with a tokenizer of the host. */
export function runEstimate(effect: Effect, { encoding, texts, handle, part }: EstimateArgs): void {
  const { turn, state } = effect;
  const { tokenizers } = state.definition;
  if (!tokenizers.has(encoding)) {
    throw wrongFrame(`there is no tokenizer for ${encoding}`);
  }
  const settle = (counts: unknown): void => effect.settle(counts);
  if (handle === 0) {
    effect.perform(() => tokenizers.count(encoding, texts), settle);
    return;
  }
  const artifact = requireArtifact(turn.handles.entryOf(handle), handle, part);
  const count = async (): Promise<unknown> =>
    tokenizers.count(encoding, [await artifact.asString()]);
  effect.perform(count, settle);
}

/** Registers the tools that artifact classes add. */
export function runForge(effect: Effect, { classes: names }: ForgeArgs): void {
  const { state } = effect;
  effect.perform(() => {
    const classes = artifactClasses(state);
    for (const name of names) {
      const tools = classes.get(name)?.forgeTools(state.facade as never) ?? [];
      for (const tool of tools) registerForged(state, tool);
    }
  });
}

/** Registers a tool that a class made. If the user has a tool of that name, a warning says so instead. */
function registerForged(state: ContextState, tool: AnyTool): void {
  const there = state.tools.get(tool.name);
  if (there === tool) return;
  if (there === undefined || forged.has(there)) {
    state.tools.register(tool, true);
    forged.add(tool);
    return;
  }
  const { name } = tool;
  state.turn.callNow(state.number, Method.Warn, {
    kind: 'artifact-tool-shadowed',
    message: `the tool ${name} stands in the way of an artifact's reader tool of that name`,
    once: `artifact-tool-shadowed ${name}`,
    error: null,
    payload: (e) => e.value({ tool: name }, 'payload'),
  });
}

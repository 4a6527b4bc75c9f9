/**
 * Effects of artifacts: texts that the module has spooled, lines that it reads, tools that classes of artifacts add.
 */
import { Method, Read } from '../abi/frames.gen.js';
import { CodecError } from '../codec/decoder.js';
import { utf8Length } from '../codec/encoder.js';
import { requireShape } from '../codec/shape.js';
import { TurncoreError } from '../errors.js';
import { encodeBody } from '../primitives/body.js';
import { requireSize, requireString } from '../primitives/readers.js';
import { Retrievable } from '../primitives/retrievable.js';
import { SpooledArtifact } from '../primitives/spooled-artifact.js';
import { ToolCall } from '../primitives/tool-call.js';
import type { AnyTool } from '../tools/tool.js';
import { artifactClasses } from './artifact-classes.js';
import type { ContextState } from './context-state.js';
import { beginResult, failEffect, sendResult, settleEffect } from './results.js';
import type { Session } from './session.js';
import { mediaOf } from './splice.js';
import { spoolRetrievable } from './spool.js';

/** Tools that classes of artifacts made: the next iteration's take their place. */
const forged = new WeakSet<AnyTool>();

/** Writes a retrieved document's text through its callback, and answers the document that reads it from there. */
export function runSpool(
  session: Session,
  effect: number,
  state: ContextState,
  args: unknown,
): void {
  const a = requireShape(args, 'i', 'SpoolArgs');
  const record = session.handles.entryOf(a[0] as number);
  if (!(record instanceof Retrievable)) {
    throw new CodecError('frame', 0, `${String(a[0])} is no retrievable`);
  }
  // A dispatch within a turn calls the turn's methods.
  const owner = session.contexts[0] ?? state;
  spoolRetrievable(owner.facade, session.spec.callbacks.storeRetrievableBytes, record).then(
    (spooled) => settleItem(session, effect, record, spooled),
    (error: unknown) => failEffect(session, effect, state, error),
  );
}

function settleItem(
  session: Session,
  effect: number,
  record: Retrievable,
  spooled: Retrievable,
): void {
  const enc = beginResult(session, effect);
  if (enc === undefined) return;
  enc.nil();
  if (spooled === record) {
    enc.nil();
  } else {
    enc.arrayHeader(2);
    enc.int(session.handles.assign(spooled));
    const mark = enc.beginBin(64);
    spooled[encodeBody](enc);
    enc.endBin(mark);
  }
  sendResult(session, effect, enc);
}

/** Reads lines, or the whole text, of an artifact. */
export function runRead(
  session: Session,
  effect: number,
  state: ContextState,
  args: unknown,
): void {
  const a = requireShape(args, 'innnnn', 'ReadArgs');
  const entry = session.handles.entryOf(a[0] as number);
  const media = mediaOf(entry, a[1] as number);
  if (media !== undefined && a[2] === Read.Size) {
    media.byteLength().then(
      (size) => sendSize(session, effect, size ?? 0, size === undefined ? 0 : 1),
      (error: unknown) => failEffect(session, effect, state, error),
    );
    return;
  }
  const artifact = artifactOf(entry, a[1] as number);
  if (artifact === undefined) {
    throw new CodecError('frame', 0, `part ${String(a[1])} of ${String(a[0])} is no artifact`);
  }
  readArtifact(
    state,
    artifact,
    a[2] as number,
    a[3] as number,
    a[4] as number,
    a[5] as number,
  ).then(
    (answer) => {
      const enc = beginResult(session, effect);
      if (enc === undefined) return;
      enc.nil();
      enc.arrayHeader(3);
      enc.int(answer.bytes);
      enc.int(answer.count);
      enc.arrayHeader(answer.lines.length);
      for (const line of answer.lines) enc.str(line);
      sendResult(session, effect, enc);
    },
    (error: unknown) => failEffect(session, effect, state, error),
  );
}

/** Answers a read that gives no lines. */
function sendSize(session: Session, effect: number, bytes: number, count: number): void {
  const enc = beginResult(session, effect);
  if (enc === undefined) return;
  enc.nil();
  enc.arrayHeader(3);
  enc.int(bytes);
  enc.int(count);
  enc.arrayHeader(0);
  sendResult(session, effect, enc);
}

/** The artifact in a place of a record. */
export function artifactOf(entry: unknown, part: number): SpooledArtifact | undefined {
  let found: unknown;
  if (entry instanceof Retrievable) found = part === 0 ? entry.content : undefined;
  else if (entry instanceof ToolCall) {
    const { results } = entry;
    if (Array.isArray(results)) found = (results as readonly unknown[])[part];
    else found = part === 0 ? results : undefined;
  }
  return found instanceof SpooledArtifact ? found : undefined;
}

/** What is answered to a read. */
interface ReadAnswer {
  readonly bytes: number;
  readonly count: number;
  readonly lines: readonly string[];
}

async function readArtifact(
  state: ContextState,
  artifact: SpooledArtifact,
  how: number,
  from: number,
  to: number,
  max: number,
): Promise<ReadAnswer> {
  const bytes = requireSize('byteLength', await artifact.byteLength());
  const count = requireSize('lineCount', await artifact.lineCount());
  if (how === Read.Size) return { bytes, count, lines: [] };
  if (how === Read.Text) {
    if (bytes > max) throw tooLarge(`its ${bytes} bytes are over the limit of ${max}`);
    const text = requireString('readAll', await artifact.asString());
    if (utf8Length(text) > max) throw tooLarge(`it is over the limit of ${max} bytes`);
    return { bytes, count, lines: [text] };
  }
  if (how !== Read.Lines) throw new CodecError('frame', 0, `unknown read ${how}`);
  const lines: string[] = [];
  let room = max;
  for (let i = from; i < to && i < count; i++) {
    if (state.aborted) throw state.reason as Error;
    const read = artifact.reader.line(i);
    const line = typeof read === 'string' || read === undefined ? read : await read;
    if (line === undefined) break;
    room -= utf8Length(requireString(`line(${i})`, line));
    if (room < 0) {
      if (lines.length > 0) break;
      throw tooLarge(`its line ${i} is over the limit of ${max} bytes`);
    }
    lines.push(line);
  }
  return { bytes, count, lines };
}

function tooLarge(why: string): TurncoreError {
  return TurncoreError.of('E_ARTIFACT_TOO_LARGE', why);
}

/** Registers the tools that classes of artifacts add. */
export function runForge(
  session: Session,
  effect: number,
  state: ContextState,
  args: unknown,
): void {
  const names = requireShape(args, 'a', 'ForgeArgs')[0];
  try {
    const classes = artifactClasses(state);
    for (const name of (names ?? []) as unknown[]) {
      const tools = classes.get(String(name))?.forgeTools(state.facade as never) ?? [];
      for (const tool of tools) registerForged(session, state, tool);
    }
  } catch (error) {
    failEffect(session, effect, state, error);
    return;
  }
  settleEffect(session, effect, state, undefined);
}

/** Registers a tool that a class made, unless the user has one of that name. */
function registerForged(session: Session, state: ContextState, tool: AnyTool): void {
  const there = state.tools.get(tool.name);
  if (there === tool) return;
  if (there !== undefined && !forged.has(there)) {
    warnShadowed(session, state, tool.name);
    return;
  }
  state.tools.register(tool, true);
  forged.add(tool);
}

function warnShadowed(session: Session, state: ContextState, name: string): void {
  const enc = session.beginCall(state.number, Method.Warn);
  const { call } = session;
  enc.arrayHeader(5);
  enc.str('artifact-tool-shadowed');
  enc.str(`the tool ${name} stands in the way of an artifact's reader tool of that name`);
  enc.str(`artifact-tool-shadowed ${name}`);
  enc.nil();
  enc.value({ tool: name }, 'payload');
  session.callNow(enc, call);
}

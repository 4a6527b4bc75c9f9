/**
 * How a runner of an agent is opened: the host tells the module of a runner as of any other, and the frame is completed
 * with what the agent brings.
 */
import { ExecutorKind, Method, MiddlewareKind, Op } from '../abi/frames.gen.js';
import { asBuiltin } from '../builtin.js';
import { Decoder } from '../codec/decoder.js';
import { Encoder } from '../codec/encoder.js';
import { type ReplyFrame, writeMiddleware } from '../codec/tuples.gen.js';
import { TurncoreError } from '../errors.js';
import type { Instance } from '../instance/instance.js';
import { type AnyTool, type ObjectSchema, Tool } from '../tools/tool.js';
import type { AgentMiddleware, Manifest } from './manifest.js';

/** What an agent's runners are opened with: the agent's options, and its models by their names. */
export interface Opening {
  readonly options: unknown;
  readonly models: Readonly<Record<string, unknown>>;
}

/** The pipelines of OpenRunner, in the order of the frame. */
const PIPELINES: readonly AgentMiddleware['pipeline'][] = [
  'turnInput',
  'turnOutput',
  'dispatchInput',
  'dispatchOutput',
];

/** Places of elements in OpenRunner. */
const EXECUTOR = 3;
const CHAT = 4;
const FIRST_PIPELINE = 6;
const ELEMENTS = 12;

/** The frame that opens a runner, completed with the agent's executor and middleware. */
export function opened(batch: Uint8Array, { middleware }: Manifest, opening: Opening): Uint8Array {
  const d = new Decoder(batch);
  d.tuple('OpenRunner', ELEMENTS);
  const enc = new Encoder(batch.length + 1024);
  enc.arrayHeader(ELEMENTS);
  for (let i = 0; i < ELEMENTS; i++) {
    const start = d.position;
    const list = i >= FIRST_PIPELINE && i < FIRST_PIPELINE + PIPELINES.length;
    if (list) {
      const given = d.list(rawOf(batch), 1);
      const brought = middleware.filter(
        ({ pipeline }) => pipeline === PIPELINES[i - FIRST_PIPELINE],
      );
      enc.arrayHeader(given.length + brought.length);
      for (const entry of given) enc.raw(entry);
      for (const { name } of brought) {
        writeMiddleware(enc, { kind: MiddlewareKind.Builtin, name, arg: null });
      }
      continue;
    }
    d.value();
    if (i === EXECUTOR) enc.int(ExecutorKind.Module);
    else if (i === CHAT) enc.value(opening, 'options');
    else enc.raw(batch.subarray(start, d.position));
  }
  return enc.copy();
}

/** Reads a value as its bytes. */
function rawOf(batch: Uint8Array): (d: Decoder) => Uint8Array {
  return (d) => {
    const start = d.position;
    d.value();
    return batch.subarray(start, d.position);
  };
}

/** The tools that an agent brings. Their handlers are in the module. */
export function toolsOf({ tools }: Manifest): AnyTool[] {
  return tools.map(({ name, description, inputSchema }) => {
    const handler = (): never => {
      throw TurncoreError.of('E_INVALID_VALUE', `the tool ${name} runs in turns of its agent only`);
    };
    return new Tool({
      name,
      description,
      inputSchema: inputSchema as unknown as ObjectSchema,
      handler: asBuiltin({ name, argument: undefined }, handler),
    });
  });
}

/**
 * Asks an instance what it is.
 *
 * @returns the members of a manifest without `turncore` and `imports`, as JSON; undefined for any module but an agent
 */
export function describe(instance: Instance): string | undefined {
  const enc = new Encoder(64);
  enc.arrayHeader(7);
  for (const n of [Op.Call, 0, 1, 0, 0, Method.Describe]) enc.int(n);
  enc.nil();
  const reply = instance.decode(instance.step(enc.bytes())).find(({ op }) => op === Op.Reply);
  const { error, value } = (reply ?? { error: null, value: null }) as ReplyFrame;
  return error === null && typeof value === 'string' ? value : undefined;
}

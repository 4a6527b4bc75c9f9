/**
 * An instance that answers by a script, to show the core what no real module sends.
 */
import { Op } from '../../src/abi/frames.gen.js';
import { readFrame } from '../../src/codec/tuples.gen.js';
import { framesOf } from '../../src/codec/decoder.js';
import { DEFAULT_LIMITS } from '../../src/codec/limits.js';
import { decodeFrames } from '../codec/frames.js';
import { Encoder } from '../../src/codec/encoder.js';
import type { Instance } from '../../src/instance/instance.js';
import { instanceFailed } from '../../src/instance/instance.js';
import { fixedClock } from '../../src/entropy.js';
import { facadeOf } from '../../src/context/facade.js';
import type { DispatchExecutorFn } from '../../src/context/functions.js';
import { Bus } from '../../src/events/bus.js';
import type { TurnEvent, TurnEvents } from '../../src/events/events.js';
import { type ChatExecutor, Tokenizable } from '../../src/index.js';
import { Core } from '../../src/turn/core.js';
import { Tokenizers } from '../../src/primitives/tokenizers.js';
import { toolParts } from '../../src/turn/definition.js';
import type { Turn } from '../../src/turn/turn.js';

/** What the fake answers to an inbound frame: frames, bytes as they are, or a trap. */
export type Answer = (frame: readonly unknown[]) => unknown[][] | Uint8Array | Error;

/** Frames back to back. */
export function batch(frames: readonly (readonly unknown[])[]): Uint8Array {
  const enc = new Encoder();
  for (const frame of frames) enc.value(frame, 'frame');
  return enc.copy();
}

/** An instance whose steps a function answers. OpenRunner is answered by itself. */
export function fakeInstance(answer: Answer): Instance {
  let failure: Error | undefined;
  const fake = {
    limits: { ...DEFAULT_LIMITS, turnEffects: 1024, instanceEffects: 65536 },
    hello: new Uint8Array(0),
    welcome: new Uint8Array(0),
    abi: 0x20000,
    features: 0,
    memoryBytes: 0,
    get alive() {
      return failure === undefined;
    },
    step(bytes: Uint8Array): Uint8Array {
      if (failure !== undefined) throw failure;
      const parts: Uint8Array[] = [];
      for (const frame of decodeFrames(bytes)) {
        const out =
          frame[0] === Op.OpenRunner ? [[Op.Reply, 0, frame[2], null, null]] : answer(frame);
        if (out instanceof Error) {
          failure = instanceFailed(out.message, 'panic: scripted', out);
          throw failure;
        }
        parts.push(out instanceof Uint8Array ? out : batch(out));
      }
      return Uint8Array.from(parts.flatMap((part) => [...part]));
    },
    decode: (bytes: Uint8Array, offsets?: number[]) =>
      framesOf(readFrame, bytes, DEFAULT_LIMITS, offsets),
    fail(reason: string, cause?: unknown): Error {
      failure ??= instanceFailed(reason, '', cause);
      return failure;
    },
  };
  return fake as unknown as Instance;
}

/** A turn in a fake instance. */
export interface FakeTurn {
  readonly core: Core;
  readonly turn: Turn;
  readonly events: TurnEvent[];
}

/** Starts a turn whose instance answers by a script. */
export function fakeTurn(
  answer: Answer,
  executor: DispatchExecutorFn | ChatExecutor = () => undefined,
): FakeTurn {
  const core = new Core(fakeInstance(answer), {
    clock: fixedClock(),
    died: () => undefined,
    facade: facadeOf,
    verify: undefined,
  });
  const events: TurnEvent[] = [];
  const never = (): never => {
    throw new Error('not called');
  };
  const turn = core.start(
    {
      http: { credentials: {}, allowedOrigins: undefined, fetch },
      definition: {
        executor,
        ...toolParts([]),
        pipelines: [[], [], [], []],
        callbacks: {
          writes: Array.from({ length: 6 }, () => [never, never, never] as const),
          fetches: [],
          storeMediaBytes: never,
          storeRetrievableBytes: never,
          replaceToolCallGroup: undefined,
          own: undefined,
          commit: undefined,
          discard: undefined,
        },
        wrappers: { wrapTool: [], wrapModel: [] },
        tokenizers: new Tokenizers({}, 'E_INVALID_TURN_RUNNER_CONFIG'),
      },
      id: 't',
      standalone: false,
      systemPrompt: new Tokenizable('x'),
      instructions: [],
      stash: {},
      initial: [],
      dispatchBus: undefined,
      bus: new Bus<TurnEvents>(),
      tap: (event) => void events.push(event),
      controller: undefined,
      gates: undefined,
      waitFor: undefined,
    },
    new Uint8Array(16),
    undefined,
    undefined,
  );
  return { core, turn, events };
}

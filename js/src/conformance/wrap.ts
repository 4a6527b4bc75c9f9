/**
 * Wrappers around single calls that do scripts.
 */
import type {
  ModelChunk,
  ModelInvocation,
  ModelWrapper,
  ToolWrapper,
} from '../runners/wrappers.js';
import { canonicalJSON } from '../codec/canonical-json.js';
import type { AnyContext } from '../entries/runners.js';
import type { Frame, Wrapped } from './frame.js';
import { headersOf, piecesOf } from './network.js';
import { type Answer, fields, type Script, str } from './scenario.js';

/** Calls a function of the scenario that wraps a call. */
export type CallWrapper = (
  by: string,
  ctx: AnyContext | undefined,
  script: Script,
  more: Partial<Frame>,
) => unknown;

/** Wrappers of tools. Their step next gives what the call gave, and so does the wrapper unless its script returns something else. */
export function toolWrappers(
  call: CallWrapper,
  by: string,
  scripts: readonly Script[] = [],
): ToolWrapper[] {
  return scripts.map((script, i) => (invocation, next) => {
    const { tool, args, ctx, signal: _signal, ...members } = invocation;
    const wrapped: Wrapped = {
      members: { ...members, tool: tool.name },
      next: async (frame, arg) => {
        const changed = arg === undefined || arg === null ? {} : fields(arg, 'args');
        const got = await next({ ...invocation, ...changed });
        frame.result = got;
        return got;
      },
    };
    return call(`${by} ${i}`, ctx, script, { args, wrapped });
  });
}

/** Wrappers of models. Their step next passes the answer on as it comes; the step answer gives one. */
export function modelWrappers(
  call: CallWrapper,
  by: string,
  scripts: readonly Script[] = [],
): ModelWrapper[] {
  return scripts.map((script, i) => (invocation, next) => {
    const { signal: _signal, ...members } = invocation;
    return passed(async (send) => {
      const wrapped: Wrapped = {
        members,
        next: async (_frame, arg) => {
          const { url = invocation.url, body = invocation.body } =
            arg === undefined || arg === null ? {} : fields(arg, 'url', 'body');
          const inner: ModelInvocation = { ...invocation, url: str(url), body: str(body) };
          for await (const chunk of next(inner)) await send(chunk);
        },
        answer: async (arg) => {
          for (const chunk of chunksOf(arg)) await send(chunk);
        },
      };
      await call(`${by} ${i}`, undefined, script, { wrapped });
    });
  });
}

/** What a function sends, one after the other. `send` resolves when the next is wanted. */
async function* passed(
  run: (send: (chunk: ModelChunk) => Promise<void>) => Promise<void>,
): AsyncGenerator<ModelChunk, void, undefined> {
  type Sent = { readonly chunk: ModelChunk; taken(): void } | { readonly end: Promise<void> };
  let give = (_sent: Sent): void => undefined;
  const waiting = (): Promise<Sent> =>
    new Promise<Sent>((resolve) => {
      give = resolve;
    });
  let next = waiting();
  const end = run(
    (chunk) =>
      new Promise<void>((taken) => {
        give({ chunk, taken });
      }),
  );
  const over = (): void => give({ end });
  end.then(over, over);
  for (;;) {
    const sent = await next;
    if ('end' in sent) {
      await sent.end;
      return;
    }
    next = waiting();
    yield sent.chunk;
    sent.taken();
  }
}

/** The answer of an API, or a list of an engine's parts. */
function chunksOf(arg: unknown): ModelChunk[] {
  const encoder = new TextEncoder();
  if (Array.isArray(arg)) {
    return [{ data: encoder.encode(arg.map((part) => `${canonicalJSON(part)}\n`).join('')) }];
  }
  const answer = arg as Answer;
  return [
    { status: answer.status ?? 200, headers: headersOf(answer) },
    ...piecesOf(answer).map((piece) => ({ data: encoder.encode(piece) })),
  ];
}

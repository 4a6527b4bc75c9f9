/**
 * The types of tools. Compiling this is the test: what must not compile is marked with @ts-expect-error.
 */
import * as z from 'zod';

import {
  ArtifactTool,
  type DispatchContext,
  SpooledArtifact,
  Tool,
  ToolRegistry,
} from '../../src/index.js';
import { type AnyTool } from '../../src/entries/tools.js';

/** Holds when each type is assignable to the other. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
declare function expectSame<A, B>(proof: Same<A, B>): void;
declare function log(value: unknown): void;
declare const ctx: DispatchContext;

const texts = { name: 'n', description: 'd' };

// The handler's arguments are what Zod gives, the caller's what it takes.
export const search = new Tool({
  ...texts,
  inputSchema: z.object({
    query: z.string(),
    limit: z.number().default(10),
    tags: z.array(z.enum(['a', 'b'])).optional(),
    size: z.string().transform((s) => s.length),
  }),
  jsonSchema: { type: 'object' },
  handler: (args) => {
    expectSame<typeof args.query, string>(true);
    expectSame<typeof args.limit, number>(true);
    expectSame<typeof args.size, number>(true);
    expectSame<typeof args.tags, ('a' | 'b')[] | undefined>(true);
    // @ts-expect-error -- there is no such argument
    log(args.nothing);
    return args.limit;
  },
});
const calls = search.executor(ctx);
expectSame<ReturnType<typeof calls>, Promise<number>>(true);
void calls({ query: 'x', size: 'abc' });
// @ts-expect-error -- the query is required
void calls({ size: 'abc' });
// @ts-expect-error -- a caller gives text, not its length
void calls({ query: 'x', size: 3 });
expectSame<Awaited<ReturnType<typeof search.validate>>['size'], number>(true);

// With a JSON Schema the types are the handler's own,
export const add = new Tool({
  ...texts,
  inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
  handler: async (args: { a: number; b?: number }) => Promise.resolve(args.a),
});
void add.executor(ctx)({ a: 1 });
// @ts-expect-error -- a is a number
void add.executor(ctx)({ a: '1' });
expectSame<ReturnType<ReturnType<typeof add.executor>>, Promise<number>>(true);

// or given as type arguments,
interface Sum {
  a: number;
}
export const sum = new Tool<Sum, string>({
  ...texts,
  inputSchema: { type: 'object' },
  handler: (args) => {
    expectSame<typeof args, Sum>(true);
    return `${args.a}`;
  },
});

// or those of any object.
export const loose = new Tool({
  ...texts,
  inputSchema: { type: 'object' },
  handler: (args) => {
    expectSame<typeof args, Record<string, unknown>>(true);
    return args['x'];
  },
});

export const wrong = new Tool({
  ...texts,
  // @ts-expect-error -- a handler takes what its schema gives
  inputSchema: z.object({ a: z.number() }),
  handler: (args: { a: string }) => args.a,
});
export const list = new Tool({
  ...texts,
  // @ts-expect-error -- a JSON Schema of arguments is of type object
  inputSchema: { type: 'array' },
  handler: () => 1,
});
export const noText = new ArtifactTool({
  ...texts,
  inputSchema: { type: 'object' },
  // @ts-expect-error -- what an artifact tool gives is text
  handler: () => 5,
});
export const noArtifact = new ArtifactTool({
  ...texts,
  inputSchema: { type: 'object' },
  handler: () => '',
  // @ts-expect-error -- which is never an artifact
  artifactConstructor: () => SpooledArtifact,
});

// All of them are tools, and can be called when what they take is not known.
export const all: AnyTool[] = [search, add, sum, loose, new ToolRegistry([search]).get('n')!];
void all[0]!.executor(ctx)({ whatever: true });

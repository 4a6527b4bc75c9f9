// A program of somebody who installed the package: one turn with a tool call,
// written against the declarations alone.
import { createRunner, Message, Tool, ToolCall, toolCallChecksum } from 'turncore';
import { type RequestHandler, simulatedProvider } from 'turncore/simulated';
import { moduleURL } from 'turncore/wasm';

export const provider: RequestHandler = simulatedProvider();

const add = new Tool<{ a: number; b: number }, number>({
  name: 'add',
  description: 'Adds two numbers',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  handler: ({ a, b }) => a + b,
});

let callId = '';

const runner = createRunner({
  tools: [add],
  executor: async (ctx, helpers) => {
    const now = Date.now();
    const args = { a: 40, b: 2 };
    if (ctx.iteration === 0) {
      const results = String(await add.executor(ctx)(args));
      const times = { createdAt: now, updatedAt: now, completedAt: now };
      await ctx.storeToolCall(
        new ToolCall({
          id: 'call-1',
          tool: 'add',
          args,
          checksum: toolCallChecksum('add', args),
          isComplete: true,
          isError: false,
          results,
          ...times,
        }),
      );
      return;
    }
    const content = `40 + 2 is ${String([...ctx.turnToolCalls][0]?.results)}`;
    helpers.reportMessage('m1', content, { isComplete: true });
    await ctx.storeMessage(
      new Message({ id: 'm1', role: 'assistant', content, createdAt: now, updatedAt: now }),
    );
    ctx.ack();
  },
});

runner.observe('toolExecutionStart', (event) => {
  callId = event.callId;
});

const events: string[] = [];
const stream = runner.stream({ message: 'What is 40 + 2?' });
for await (const { event } of stream) events.push(event);
const result = await stream.result;

const said = `${result.status} ${JSON.stringify(result.text)} ${String(result.iterations)} iterations`;
if (said !== 'ack "40 + 2 is 42" 2 iterations' || !events.includes('toolExecutionEnd')) {
  throw new Error(`${said}, ${events.join(' ')}, ${String(result.error)}`);
}
if (callId !== toolCallChecksum('add', { b: 2, a: 40 })) throw new Error(callId);
if (!moduleURL.pathname.endsWith('/node_modules/turncore/dist/turncore.wasm')) {
  throw new Error(`the module is at ${moduleURL.href}`);
}
console.log(said);

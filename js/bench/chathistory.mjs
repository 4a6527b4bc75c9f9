/**
 * An iteration with the chat executor on a long history, whose request has all of it.
 */
import { ChatExecutor, Host, Tool } from 'turncore';
import { History } from 'turncore/records';
import { Conversation, message } from './conversation.mjs';
import { LONG, messages } from './histories.mjs';
import { measure, micros, now, paired, subject } from './meter.mjs';

/** Iterations of a turn that are counted: all but the first and the last. */
const ITERATIONS = 50;

const event = (delta, reason) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\ndata: [DONE]\n\n`;

/** An iteration, and how long the last request of a turn was. */
function iterating(figure, list) {
  let requests = 0;
  let calls = 0;
  let begun = 0;
  let took = 0;
  const self = { size: 0 };
  const host = new Host({
    fetch: async (_, init) => {
      if (++requests % (ITERATIONS + 2) === 0) {
        self.size = init.body.byteLength;
        return answer(event({ content: '3' }, 'stop'));
      }
      const call = {
        index: 0,
        id: `c${requests}`,
        function: { name: 'add', arguments: '{"a":1}' },
      };
      return answer(event({ tool_calls: [call] }, 'tool_calls'));
    },
  });
  const add = new Tool({
    name: 'add',
    description: 'Adds.',
    inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
    handler: async ({ a }) => {
      calls += 1;
      if (calls === 1) begun = now();
      if (calls === ITERATIONS + 1) {
        took = now() - begun;
        calls = 0;
      }
      return a;
    },
  });
  const history = new History('messages', list);
  const load = async (ctx, next) => {
    ctx.turnMessages.addAll(history);
    await next();
  };
  const executorCallback = new ChatExecutor({ model: 'm', baseURL: 'http://provider/v1' });
  const conversation = new Conversation(0, {
    ...{ host, executorCallback, tools: [add], turnInputPipeline: [load] },
  });
  self.subject = subject(figure, async () => {
    await conversation.other();
    if (calls !== 0) throw new Error(`${calls} calls`);
    return took / ITERATIONS;
  });
  return self;
}

function answer(text) {
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

/**
 * An iteration on 5,000 messages, compared with one on a single message that makes the request as long, which does
 * nothing about it but copy it.
 */
export async function measureChatHistory(pace) {
  const none = iterating('chat-iteration-0', []);
  const many = iterating('chat-iteration-5000', messages(LONG));
  for (let i = 0; i < 2; i++) await many.subject.sample();
  const text = 'In some words. '.repeat(Math.floor(many.size / 15));
  const one = iterating('chat-copy', [message('h0', 'user', text)]);
  await one.subject.sample();
  if (many.size < LONG * 50 || one.size < many.size || one.size > many.size * 1.05) {
    throw new Error(`requests of ${many.size} and ${one.size} bytes`);
  }
  const shorter = { ...pace, runs: Math.ceil(pace.runs / ITERATIONS) };
  await measure(shorter, none.subject, many.subject, one.subject);
  const ratio = (a, b) => a / b;
  return [
    ...[none, many, one].map((of) => micros(of.subject)),
    paired('chat-iteration-ratio', '×', many.subject, one.subject, ratio),
  ];
}

/**
 * One invocation of an agent development kit, on a model that answers at once: a tool call, then a text. Sessions are
 * in memory, and made and deleted within what is timed, as the kit needs one for every conversation.
 *
 *   node adk.mjs @iqai/adk|@google/adk [SAMPLES]
 *
 * Prints its figures as JSON for host/internal/bench/report.
 */
import { z } from 'zod';
import { sample, versionOf } from './sample.mjs';

const [name, count = '2000'] = process.argv.slice(2);
const kit = await import(name);
const google = name === '@google/adk';
const app = { appName: 'bench', userId: 'user' };

const call = { functionCall: { name: 'capital_of', args: { country: 'France' } } };
const answer = { text: 'The capital of France is Paris.' };

function* respond(request) {
  const asked = request.contents.at(-1).parts.some((part) => part.functionResponse !== undefined);
  const content = { role: 'model', parts: [asked ? answer : call] };
  const response = { content, turnComplete: true };
  yield google ? response : new kit.LlmResponse(response);
}

class Model extends kit.BaseLlm {
  constructor() {
    super(google ? { model: 'none' } : 'none');
  }

  async *generateContentAsync(request) {
    yield* respond(request);
  }

  async *generateContentAsyncImpl(request) {
    yield* respond(request);
  }
}

const schema = z.object({ country: z.string() });
const tool = { name: 'capital_of', description: 'Returns the capital of a country.' };
const capital = google
  ? new kit.FunctionTool({
      ...tool,
      parameters: schema,
      execute: ({ country }, ctx) => {
        ctx.state.set('last_country', country);
        return { result: 'Paris' };
      },
    })
  : kit.createTool({
      ...tool,
      schema,
      fn: ({ country }, ctx) => {
        ctx.state.last_country = country;
        return { result: 'Paris' };
      },
    });

const sessionService = new kit.InMemorySessionService();
const runner = new kit.Runner({
  appName: app.appName,
  sessionService,
  agent: new kit.LlmAgent({
    name: 'root',
    description: 'Answers questions about geography.',
    instruction: 'Answer briefly.',
    model: new Model(),
    tools: [capital],
    disallowTransferToParent: true,
    disallowTransferToPeers: true,
  }),
});

const sessionId = 's';
const open = () =>
  google
    ? sessionService.createSession({ ...app, sessionId })
    : sessionService.createSession(app.appName, app.userId, {}, sessionId);
const close = () =>
  google
    ? sessionService.deleteSession({ ...app, sessionId })
    : sessionService.deleteSession(app.appName, app.userId, sessionId);

async function turn() {
  const newMessage = { role: 'user', parts: [{ text: 'What is the capital of France?' }] };
  let events = 0;
  for await (const event of runner.runAsync({ userId: app.userId, sessionId, newMessage })) {
    if (event.errorMessage) throw new Error(event.errorMessage);
    events++;
  }
  if (events !== 3) throw new Error(`a turn of ${events} events is not what is measured`);
}

const fresh = await sample(Number(count), async () => {
  await open();
  await turn();
  await close();
});
// Each session serves one sample, so that its length is what the title says.
const turns = 50;
const late = await sample(Math.ceil(Number(count) / 50), turn, async () => {
  await close().catch(() => undefined);
  await open();
  for (let i = 0; i < turns; i++) await turn();
});

const peer = `${name} ${await versionOf(name)}`;
console.log(
  JSON.stringify([
    {
      peer,
      title: 'invocation with a tool call, in a session that is made for it and deleted',
      ...fresh,
      figure: 'invocation',
      engine: 'Node',
      atLeast: google ? 2.4 : 1.6,
    },
    {
      peer,
      title: `the same in a session of ${turns}`,
      ...late,
      figure: 'invocation-50',
      engine: 'Node',
    },
    {
      peer,
      title: 'an invocation, against a turn with a tool call',
      ...fresh,
      figure: 'turn-stored',
      engine: 'Node',
    },
  ]),
);
process.exit(0);

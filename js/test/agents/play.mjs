/**
 * Plays an example agent, to the same event log on each host. It runs in Node, in pages and in workers.
 */
import { loadAgent } from 'turncore/agents';
import { fixedClock, seededEntropy } from 'turncore/host';

/**
 * Plays the turns of a file of examples/agents/testdata: what users say, and what answers the agent.
 *
 * @returns the lines of the event log
 */
export async function playAgent(file, grant, play) {
  const answers = answersOf(play);
  const agent = await loadAgent(file, { grant, options: play.options, ...hostOf(play, answers) });
  let stash = {};
  const look = (ctx, next) => {
    stash = ctx.stash.all();
    return next();
  };
  const runner = agent.createRunner({ dispatchOutputPipeline: [look] });
  const log = await playOn(runner, play);
  for (const [key, value] of Object.entries(play.turns.at(-1).stash ?? {})) {
    if (JSON.stringify(stash[key]) !== JSON.stringify(value)) {
      throw new Error(`the host sees the stash ${JSON.stringify(stash)}`);
    }
  }
  if (answers.length > 0) throw new Error('the script has more answers');
  return log;
}

/** What the model answers in all turns. */
export function answersOf(play) {
  return play.turns.flatMap((turn) => turn.answers);
}

/** The model, which takes its answers off a list, and the host. */
export function hostOf(play, answers) {
  return {
    model: (provider, name) => ({
      name,
      capabilities: {
        tools: 'native',
        grammar: 'schema',
        media: ['image', 'audio', 'video', 'document'],
      },
      async *generate() {
        const parts = answers.shift();
        if (parts === undefined) throw new Error('the script has no more answers');
        yield* parts;
        yield { finish: parts.some((part) => part.toolCall) ? 'tool_calls' : 'stop' };
      },
    }),
    host: {
      clock: fixedClock(),
      entropy: seededEntropy(1),
      fetch: async (input) => {
        const body = play.http?.[input instanceof Request ? input.url : String(input)];
        return Response.json(body ?? {}, { status: body === undefined ? 404 : 200 });
      },
    },
  };
}

/** Plays the turns on a runner. @returns the lines of the event log */
export async function playOn(runner, play) {
  const decisions = play.turns.flatMap(({ gates = [] }) => gates);
  let log = '';
  for (const { message } of play.turns) {
    try {
      for await (const event of runner.stream({ message })) {
        log += `${JSON.stringify(event)}\n`;
        if (event.event === 'turnGateOpen') event.resolve(decisions.shift());
      }
    } catch (error) {
      if (error.code !== 'E_DISPATCH_PIPELINE_ERROR') throw error; // the events say so, too
    }
  }
  if (decisions.length > 0) throw new Error('the script has more decisions');
  return log;
}

/**
 * A module that counts what it does, against one that does not: by a turn, and by computing alone.
 */
import { Host, Tool } from 'turncore';
import { meteredModule } from 'turncore/metering';
import { moduleURL } from '../dist/wasm.js';
import { Conversation } from './conversation.mjs';
import { measure, paired, timedAsync } from './meter.mjs';

export async function measureMetered(pace) {
  const counted = () => new Host({ module: meteredModule(moduleURL) });
  const subjects = [
    [{}, 'turn'],
    [{ host: counted() }, 'turn'],
    [compute(), 'other'],
    [{ ...compute(), host: counted() }, 'other'],
  ].map(([config, method]) => {
    const conversation = new Conversation(0, config);
    return timedAsync('metered', () => conversation[method]());
  });
  await measure(pace, ...subjects);
  const ratio = (a, b) => a / b;
  return [
    paired('metered', '×', subjects[1], subjects[0], ratio),
    paired('metered-compute', '×', subjects[3], subjects[2], ratio),
  ];
}

/** What the module matches, some 20 KB. */
const words = `${'some words of a text '.repeat(1000)}end`;

/**
 * What makes a turn one call of a tool. Almost all of its time the module matches the argument against the pattern of
 * the tool's schema.
 */
function compute() {
  const tool = new Tool({
    name: 'match',
    description: 'Takes a text of words.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', pattern: '^(?:[a-z]+ )+end$' } },
      required: ['text'],
    },
    handler: () => null,
  });
  return {
    tools: [tool],
    executorCallback: async (ctx) => {
      await tool.executor(ctx)({ text: words });
      ctx.ack();
    },
  };
}

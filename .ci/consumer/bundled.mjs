/**
 * What a tool does by itself, printed: the same for the package's files and for a bundle of what it needs of them.
 *
 * usage: node bundled.mjs MODULE
 */
import { readFile } from 'node:fs/promises';
import { argv } from 'node:process';

import { Tool } from 'turncore';

const tool = new Tool({
  name: 'weather',
  description: 'Weather in a city',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer', default: 1 } },
    required: ['city'],
  },
  handler: ({ city }) => `4 degrees in ${city}`,
});
const module = await readFile(argv[2]);
console.log(JSON.stringify(await tool.validate({ city: 'Oslo' }, { module })));
await tool
  .validate({ city: 5 }, { module })
  .catch(({ code, message }) => console.log(code, message));

/**
 * Tools that the simulated provider can call.
 */
import type { Clock } from '../entropy.js';
import { calculatorTool } from '../tools/catalogue.js';
import { type AnyTool, Tool } from '../tools/tool.js';

/** The tools current_time and calculate. */
export function builtinTools(clock: Clock): AnyTool[] {
  const { description, inputSchema, handler, trusted } = calculatorTool();
  return [
    new Tool({
      name: 'current_time',
      description: 'Tells the current date and time in UTC.',
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      handler: () => new Date(clock()).toISOString(),
    }),
    // Under a name that texts mention.
    new Tool({ name: 'calculate', description, inputSchema, handler, trusted }),
  ];
}

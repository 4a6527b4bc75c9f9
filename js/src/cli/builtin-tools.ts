/**
 * Tools that the simulated provider can call.
 */
import type { Clock } from '../entropy.js';
import { type AnyTool, Tool } from '../tools/tool.js';
import { calculate } from './arithmetic.js';

/** The tools current_time and calculate. */
export function builtinTools(clock: Clock): AnyTool[] {
  return [
    new Tool({
      name: 'current_time',
      description: 'Tells the current date and time in UTC.',
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      handler: () => new Date(clock()).toISOString(),
    }),
    new Tool<{ expression: string }>({
      name: 'calculate',
      description: 'Calculates an arithmetic expression with + - * / and parentheses.',
      inputSchema: {
        type: 'object',
        properties: { expression: { type: 'string', description: 'such as (2 + 3) * 4' } },
        required: ['expression'],
        additionalProperties: false,
      },
      handler: ({ expression }) => calculate(expression),
    }),
  ];
}

/**
 * Tools of the catalogue.
 */
import {
  artifactsTool,
  calculatorTool,
  fetchTool,
  memoryTools,
  retrievablesTool,
  timeTool,
} from '../index.js';
import { type AnyTool, type FetchOptions } from '../entries/tools.js';
import { Malformed } from './scenario.js';

/** A tool of the catalogue by its name. @throws Malformed if there is none */
export function catalogueTool(name: string, options: unknown): AnyTool {
  if (name === 'fetch') return fetchTool(options as FetchOptions);
  if (options !== undefined)
    throw new Malformed(`the tool ${name} of the catalogue has no options`);
  const all: AnyTool[] = [
    timeTool(),
    calculatorTool(),
    ...memoryTools(),
    retrievablesTool(),
    artifactsTool(),
  ];
  const tool = all.find((each) => each.name === name);
  if (tool === undefined) throw new Malformed(`the catalogue has no tool ${name}`);
  return tool;
}

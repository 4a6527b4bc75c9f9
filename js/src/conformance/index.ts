/**
 * Runs the conformance corpus: scenarios in JSON that say what a program's functions do in a turn, and what must come of
 * it. A host of Turncore in any language that plays a scenario writes the same lines, byte for byte.
 *
 * ```js
 * import { check, features, logText, Player, playable } from 'turncore/conformance';
 *
 * const player = new Player();
 * for (const scenario of file.scenarios) {
 *   if (!playable(scenario, features)) continue;
 *   const log = await player.play(scenario);
 *   check(scenario, log);
 * }
 * ```
 *
 * @packageDocumentation
 */
export { checkStorage, failing } from './failing.js';
export { type Line, lineText, type Log, logText, summary } from './line.js';
export { check } from './match.js';
export type { Answer } from './network.js';
export { features, Player, type PlayerOptions } from './player.js';
export {
  type CorpusFile,
  type Entry,
  type ErrorSpec,
  Malformed,
  playable,
  type RunnerSpec,
  type Scenario,
  type Script,
  type Step,
  type TextSpec,
  type ToolSpec,
} from './scenario.js';

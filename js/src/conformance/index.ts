/**
 * Plays the conformance corpus: scenarios in JSON that say what a program's functions do in a turn, and what must come
 * of it. A host of Turncore in any language that plays a scenario writes the same lines, byte for byte.
 * docs/conformance.md of the repository shows how to play the corpus on a platform or a module of your own.
 *
 * ```js
 * import { check, features, logText, playable, Player } from 'turncore/conformance';
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
export {
  checkInvocation,
  InvocationPlayer,
  type InvocationPlayerOptions,
} from './invocation-player.js';
export {
  type Act,
  type AgentSpec,
  type AgentToolSpec,
  type AnswerSpec,
  type CallSpec,
  type CompactionSpec,
  type Hooks,
  type InvocationFault,
  type InvocationFile,
  type InvocationScenario,
  type InvocationStep,
  invocationVariants,
  type Operation,
  type PluginSpec,
  type Target,
} from './invocation-scenario.js';
export { type Line, type Log, logText } from './line.js';
export { check } from './match.js';
export { features, Player, type PlayerOptions } from './player.js';
export {
  type Answer,
  type CorpusFile,
  type Entry,
  type ErrorSpec,
  type Fields,
  playable,
  type RunnerSpec,
  type Scenario,
  type Script,
  type Step,
  type TextSpec,
  type ToolSpec,
} from './scenario.js';

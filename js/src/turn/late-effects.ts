/**
 * Effects of tools, models and artifacts. Turns without them never load this.
 */
import { EffectKind } from '../abi/frames.gen.js';
import { runEstimate, runForge, runRead, runSpool } from './artifact-effects.js';
import type { Late, Runs } from './runs.js';
import { runHttp, runModel } from './stream-effects.js';
import { runTool, runValidate } from './tool-effects.js';

export const lateEffects: Runs<Late> = {
  [EffectKind.Tool]: runTool,
  [EffectKind.HTTP]: runHttp,
  [EffectKind.Model]: runModel,
  [EffectKind.Validate]: runValidate,
  [EffectKind.Spool]: runSpool,
  [EffectKind.Read]: runRead,
  [EffectKind.Estimate]: runEstimate,
  [EffectKind.Forge]: runForge,
};

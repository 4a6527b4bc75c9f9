/**
 * Recognizing Tools, for code that makes none.
 */
import { toolBrand } from './brand.js';
import type { AnyTool } from './tool.js';

/** Whether it is a Tool, of whatever arguments, even from another copy of this package. */
export function isTool(value: unknown): value is AnyTool {
  return typeof value === 'object' && value !== null && toolBrand in value;
}

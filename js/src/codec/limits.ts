/**
 * Bounds of one frame.
 */

/** Bounds of what is decoded. */
export interface CodecLimits {
  /** Bytes of one frame. */
  frame: number;
  /** Bytes of one string or byte string. */
  string: number;
  /** Elements of one array or entries of one map. */
  array: number;
  /** Nesting of arrays and maps in one frame. */
  depth: number;
}

/** The ABI's own bounds; Hello and Welcome may lower them. */
export const DEFAULT_LIMITS: Readonly<CodecLimits> = Object.freeze({
  frame: 16 << 20,
  string: 16 << 20,
  array: 8192,
  depth: 64,
});

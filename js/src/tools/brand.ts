/**
 * What tells a Tool, even from another copy of this package.
 */

/** Name of the property that Tools have. */
export const toolBrand = Symbol.for('turncore.tool');

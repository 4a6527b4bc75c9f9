/**
 * The context for which texts are rendered. It has collections of texts: the types form one recursive type of the
 * API.
 */
export type { DispatchContext } from '../context/dispatch-context.js';

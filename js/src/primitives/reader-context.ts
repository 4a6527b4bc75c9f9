/**
 * The context that texts are rendered for. It has collections of texts: the types are one recursive type of the API.
 */
export type { DispatchContext } from '../context/dispatch-context.js';

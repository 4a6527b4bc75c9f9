/**
 * Trust: where something comes from.
 */

/** Where content comes from, chosen by who brings it in: how far it is to be trusted. Never inferred. */
export type TrustTier = 'first-party' | 'third-party-public' | 'third-party-private';

/**
 * Trust: the origin of content.
 */

/** The origin of content and so the trust in it. The code that adds the content sets it; it is never inferred. */
export type TrustTier = 'first-party' | 'third-party-public' | 'third-party-private';

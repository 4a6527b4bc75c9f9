/** Milliseconds of silence after which a comment shows that a connection lives. */
export const SILENCE = 15_000;

/**
 * Points in time as callers may give them.
 */

/** A date, an ISO 8601 string, milliseconds since the Unix epoch, or a date-time object with `toMillis`. */
export type Timestamp = Date | string | number | { toMillis(): number };

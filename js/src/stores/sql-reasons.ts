/**
 * What SQLite's results mean.
 */

/** What is wrong, by the names of the results without their beginning. */
export const REASONS: Readonly<Record<string, string>> = {
  BUSY: 'it is locked by another process',
  LOCKED: 'it is locked',
  FULL: 'it is full',
  READONLY: 'it is read-only',
  PERM: 'access is denied',
  IOERR: 'its file cannot be read or written',
  CANTOPEN: 'its file cannot be opened',
  CORRUPT: 'its file is damaged',
  NOTADB: 'its file is no SQLite database',
  TOOBIG: 'a record or a part is too large',
  NOMEM: 'there is too little memory',
  PROTOCOL: 'it is locked by other processes',
};

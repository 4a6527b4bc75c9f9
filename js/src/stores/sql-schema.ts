/**
 * Brings the schema of an SQL database up to date.
 */
import { storedError } from '../stored-errors.js';
import { SCHEMA, STATEMENTS } from './sql.gen.js';
import type { Column, Sql } from './sql-tables.js';

const TABLES =
  "SELECT COUNT(*) AS n FROM sqlite_master WHERE type = 'table' AND name LIKE 'turncore\\_%' ESCAPE '\\'";

/** Statements that together name every column. */
const PROBES = [
  ['findSession', ['']],
  ['recordsAfter', [0, 0]],
  ['findKey', [0, '']],
  ['allBytes', [0]],
  ['findPart', [0, 0]],
  ['unusedContents', [0, 0]],
  ['sessionsWithUnusedBytes', [0, 0]],
  ['eventsAfter', [0, 0, 0]],
  ['allState', [0, '']],
  ['allArtifacts', [0, '']],
  ['findJournal', ['']],
  ['entriesFrom', ['', 0]],
] as const;

/** The statements of each version; the first makes version 1. */
export type Schema = readonly (readonly string[])[];

/** An SQL database that answers at once. */
export interface SqlDatabase {
  readonly sql: Sql;
  /** Runs a function that reads one state. */
  read<T>(run: () => T): T;
  /** Runs a function in a transaction. */
  write<T>(run: () => T): T;
  /** What an error of the database means, if that is known. */
  reason(error: unknown): string | undefined;
}

/**
 * Makes a database have the last of the versions of the schema, in one transaction.
 *
 * @throws TurncoreError E_STORE_VERSION for a later version, for tables without one, and for an earlier one that can
 *   only be read
 */
export function migrate(db: SqlDatabase, readOnly = false, versions: Schema = SCHEMA): void {
  const last = versions.length;
  const at = db.read(() => versionOf(db, last));
  if (at !== last && readOnly) {
    throw wrongVersion(`the schema has version ${at}, and to be read it must have version ${last}`);
  }
  if (at !== last) {
    db.write(() => {
      // Another process may have done it meanwhile.
      for (const version of versions.slice(versionOf(db, last))) {
        for (const statement of version) db.sql.all(statement);
      }
      db.sql.all(STATEMENTS.writeMeta, 'schema', last);
    });
  }
  db.read(() => probe(db));
}

/** The version of the schema, 0 if there is none. @throws TurncoreError E_STORE_VERSION for one after the last */
function versionOf(db: SqlDatabase, last: number): number {
  if (db.sql.all(TABLES)[0]!['n'] === 0) return 0;
  let version: Column | undefined;
  try {
    version = db.sql.all(STATEMENTS.readMeta, 'schema')[0]?.['value'];
  } catch (error) {
    if (db.reason(error) !== undefined) throw error;
    throw halfway('has tables of Turncore, but no version of them', error);
  }
  if (typeof version !== 'number') throw halfway('has tables of Turncore, but no version of them');
  if (version < 1) {
    throw wrongVersion(`the schema has version ${version}, and there is none before 1`);
  }
  if (version > last) {
    const known = `this library knows those up to ${last}`;
    throw wrongVersion(`the schema has version ${version}, and ${known}`);
  }
  return version;
}

/** Sees whether the tables have what statements name. */
function probe(db: SqlDatabase): void {
  try {
    for (const [name, values] of PROBES) db.sql.all(STATEMENTS[name], ...values);
  } catch (error) {
    if (db.reason(error) !== undefined) throw error;
    throw halfway('lacks tables or columns of its schema', error);
  }
}

function halfway(what: string, cause?: unknown): Error {
  return wrongVersion(`the database ${what}: it was migrated halfway`, cause);
}

function wrongVersion(why: string, cause?: unknown): Error {
  return storedError('E_STORE_VERSION', why, { cause });
}

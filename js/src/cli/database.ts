/**
 * The database of the command's conversations.
 */
import type { DatabaseStore } from '../stores/table-store.js';
import { UsageError } from './usage.js';

/**
 * Opens an SQLite file.
 *
 * @throws UsageError (rejects) if Node has no SQLite; TurncoreError if the file cannot be opened
 */
export async function openDatabase(command: string, file: string): Promise<DatabaseStore> {
  if (process.getBuiltinModule?.('node:sqlite') === undefined) {
    throw new UsageError(
      command,
      `--store needs SQLite, which Node has from 22.13 on; this is Node ${process.versions.node}`,
    );
  }
  const { sqliteStore } = await import('../stores/sqlite.js');
  return sqliteStore(file);
}

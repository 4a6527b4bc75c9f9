/**
 * turncore replay.
 */
import { readJournal } from '../journal/reader.js';
import { divergence, replay as replayJournal } from '../journal/replay.js';
import { parseReplay } from './command-line.js';
import { inFile, readWhole } from './journal-file.js';
import { moduleOf } from './module.js';
import { Screen } from './screen.js';
import { HELP } from './usage.js';

/**
 * Replays a journal in a fresh instance and compares every byte.
 *
 * @returns whether all bytes are equal
 * @throws UsageError, or the error that stopped the replay
 */
export async function replay(args: string[]): Promise<boolean> {
  const options = parseReplay(args);
  if (options === undefined) {
    process.stdout.write(HELP['replay']!);
    return true;
  }
  const { file } = options;
  const screen = new Screen(process.stdout, process.stderr, process.env);
  const journal = await readWhole(file);
  const module = await moduleOf(options.module);
  const report = await replayJournal(journal, module).catch((error: unknown) => {
    throw inFile(file, error);
  });
  const { header, entries, torn } = report;
  const difference = divergence(report);
  if (difference !== undefined && report.sameModule !== true) {
    const here = await module.hash();
    screen.notice(
      `the journal is one of module ${header.module} on ${header.engine}, this is module ${here} on node`,
    );
  }
  if (difference !== undefined) throw inFile(file, difference);
  if (torn) throw inFile(file, readJournal(journal).damage);
  if (entries === 0) throw new Error(`${file}: the journal has no entries`);
  screen.print(
    `${file}: ${entries} entries from ${header.engine} replayed on node, all bytes are equal\n`,
  );
  return true;
}

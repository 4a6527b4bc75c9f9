/**
 * turncore inspect.
 */
import { JOURNAL_VERSION, type JournalHeader } from '../journal/format.js';
import { framesJSON } from '../journal/json.js';
import { type Journal, readJournal } from '../journal/reader.js';
import { type InspectOptions, parseInspect } from './command-line.js';
import { inFile, readWhole } from './journal-file.js';
import { Screen } from './screen.js';
import { type Styled, Timeline } from './timeline.js';
import { HELP } from './usage.js';

/**
 * Shows the timeline or the frames of a journal.
 *
 * @returns true: it throws if the journal is incomplete
 * @throws UsageError, or the error in the journal
 */
export async function inspect(args: string[]): Promise<boolean> {
  const options = parseInspect(args);
  if (options === undefined) {
    process.stdout.write(HELP['inspect']!);
    return true;
  }
  const bytes = await readWhole(options.file);
  const screen = new Screen(process.stdout, process.stdout, process.env);
  showJournal(bytes, options, (line) => screen.styled(line));
  return true;
}

/**
 * Shows a journal as far as it goes.
 *
 * @param write takes the next line
 * @throws Error that says what is wrong with it
 */
export function showJournal(
  bytes: Uint8Array,
  { file, json, verbose }: InspectOptions,
  write: (line: readonly Styled[]) => void,
): void {
  const { header, entries, damage } = read(file, bytes);
  const timeline = new Timeline(header, verbose);
  if (json) write([[undefined, headerJSON(header)]]);
  for (const [i, entry] of entries.entries()) {
    const [inbound, outbound] = [framesJSON(entry.in), framesJSON(entry.out)];
    if (json) write([[undefined, `{"entry":${i},"in":${inbound},"out":${outbound}}`]]);
    else for (const text of [inbound, outbound]) for (const f of parse(text)) timeline.frame(f);
  }
  if (!json) for (const line of timeline.lines()) write(line);
  if (damage !== undefined) throw inFile(file, damage);
  if (entries.length === 0) throw new Error(`${file}: the journal has no entries`);
}

function read(file: string, bytes: Uint8Array): Journal {
  try {
    return readJournal(bytes);
  } catch (error) {
    throw inFile(file, error);
  }
}

function parse(frames: string): readonly Record<string, unknown>[] {
  return JSON.parse(frames) as Record<string, unknown>[];
}

function headerJSON({ abi, features, module, engine, turn }: JournalHeader): string {
  return JSON.stringify({
    turncore: 'journal',
    version: JOURNAL_VERSION,
    abi: `${abi >>> 16}.${abi & 0xffff}`,
    features,
    module,
    engine,
    turn,
  });
}

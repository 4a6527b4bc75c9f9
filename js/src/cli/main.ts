#!/usr/bin/env node
/**
 * The command: runs agent turns from a shell, with a model's API or a simulated one. It also replays and shows their
 * journals, and looks after conversations.
 */
import { inspect } from './inspect.js';
import { replay } from './replay.js';
import { run } from './run.js';
import { printable, Screen } from './screen.js';
import { sessions } from './sessions.js';
import { HELP, UsageError } from './usage.js';
import { version } from './version.js';

/** Exit statuses. */
const OK = 0;
/** The turn did not ack, or a replay differs from its journal. */
const FAILED = 1;
const WRONG_USAGE = 2;

async function main([name, ...args]: string[]): Promise<number> {
  try {
    switch (name) {
      case undefined:
        process.stderr.write(HELP['']!);
        return WRONG_USAGE;
      case 'run':
        return (await run(args)) ? OK : FAILED;
      case 'replay':
        return (await replay(args)) ? OK : FAILED;
      case 'inspect':
        return (await inspect(args)) ? OK : FAILED;
      case 'sessions':
        return (await sessions(args)) ? OK : FAILED;
      case 'version':
      case '--version':
        return (await version(args)) ? OK : FAILED;
      case 'help':
      case '-h':
      case '--help':
        process.stdout.write(helpOf(args[0] ?? ''));
        return OK;
      default:
        throw new UsageError('', `"${name}" is no command`);
    }
  } catch (error) {
    if (error instanceof UsageError) {
      const help = `turncore help ${error.command}`.trimEnd();
      process.stderr.write(`turncore: ${printable(error.message)}\n"${help}" tells more.\n`);
      return WRONG_USAGE;
    }
    new Screen(process.stdout, process.stderr, process.env).failure(error);
    return FAILED;
  }
}

function helpOf(command: string): string {
  const text = Object.hasOwn(HELP, command) ? HELP[command] : undefined;
  if (text === undefined) throw new UsageError('', `"${command}" is no command`);
  return text;
}

/** Why output was lost. */
let lost: NodeJS.ErrnoException | undefined;

/** Says that output was lost. A reader that wants no more of it, such as head, has gone by its own will. */
function tellLost(): void {
  if (lost === undefined) return;
  if (process.exitCode === OK) process.exitCode = FAILED;
  if (lost.code === 'EPIPE') return;
  new Screen(process.stdout, process.stderr, process.env).failure(
    new Error(`standard output: ${lost.message}`),
  );
}

process.stdout.on('error', (error: Error) => (lost ??= error));
process.once('exit', tellLost); // everything has been written then
process.exitCode = await main(process.argv.slice(2));

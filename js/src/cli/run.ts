/**
 * turncore run.
 */
import { createInterface } from 'node:readline';

import { parseRun, type RunOptions } from './command-line.js';
import { readPrompt } from './prompt.js';
import { Screen } from './screen.js';
import { Session } from './session.js';
import { HELP, UsageError } from './usage.js';

/**
 * Runs one turn, or a conversation at the terminal.
 *
 * @returns whether the turn acked; true for a conversation
 * @throws UsageError, or the error that kept the turn from starting
 */
export async function run(args: string[]): Promise<boolean> {
  const options = parseRun(args, process.env);
  if (options === undefined) {
    process.stdout.write(HELP['run']!);
    return true;
  }
  const chat = isChat(options);
  if (chat && options.log !== undefined) {
    throw new UsageError('run', '--log is for one turn: give a prompt');
  }
  const prompt = chat ? '' : await promptOf(options);
  const screen = new Screen(process.stdout, process.stderr, process.env);
  const session = await Session.open(options, screen);
  try {
    if (!chat) return await session.turn(prompt);
    await converse(session);
    return true;
  } finally {
    screen.close();
    await session.close();
  }
}

/** Without a prompt, a terminal gets a conversation. */
function isChat({ prompt, json }: RunOptions): boolean {
  return prompt === undefined && process.stdin.isTTY && !json;
}

async function promptOf({ prompt }: RunOptions): Promise<string> {
  return prompt === undefined || prompt === '-' ? readPrompt(process.stdin) : prompt;
}

/** Runs a turn of one conversation for each line of input, until the input ends. */
async function converse(session: Session): Promise<void> {
  const { stderr, stdin } = process;
  stderr.write('A line is a turn. Ctrl-C stops a turn, Ctrl-D ends the conversation.\n');
  const ask = (): unknown => stderr.write('\n> ');
  ask();
  for await (const line of createInterface({ input: stdin, terminal: false })) {
    // The turn's view has shown a failure, which does not end the conversation.
    if (line.trim() !== '') await session.turn(line.trim());
    ask();
  }
  stderr.write('\n');
}

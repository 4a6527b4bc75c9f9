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
 * Runs a turn, or holds a conversation at the terminal.
 *
 * @returns whether all went well
 * @throws UsageError, or what kept the turn from beginning
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
    session.close();
    screen.close();
  }
}

/** Without a prompt, people at a terminal are asked for one after the other. */
function isChat({ prompt, json }: RunOptions): boolean {
  return prompt === undefined && process.stdin.isTTY && !json;
}

async function promptOf({ prompt }: RunOptions): Promise<string> {
  return prompt === undefined || prompt === '-' ? readPrompt(process.stdin) : prompt;
}

/** Runs a turn for each line that comes in, all of one conversation, until the input ends. */
async function converse(session: Session): Promise<void> {
  const { stderr, stdin } = process;
  stderr.write('A line is a turn. Ctrl-C stops a turn, Ctrl-D ends the conversation.\n');
  const ask = (): unknown => stderr.write('\n> ');
  ask();
  for await (const line of createInterface({ input: stdin, terminal: false })) {
    // How a turn ended was told. It does not end the conversation.
    if (line.trim() !== '') await session.turn(line.trim());
    ask();
  }
  stderr.write('\n');
}

/**
 * Prompts from standard input.
 */
import { UsageError } from './usage.js';

/** Largest prompt in bytes. */
const MAX_PROMPT = 8 << 20;

/**
 * Reads a prompt from standard input.
 *
 * @throws UsageError (rejects) if there is none
 */
export async function readPrompt(stdin: NodeJS.ReadStream): Promise<string> {
  if (stdin.isTTY) throw new UsageError('run', 'there is no prompt');
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of stdin as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_PROMPT) throw new Error(`the prompt is longer than ${MAX_PROMPT} bytes`);
    parts.push(part);
  }
  const prompt = Buffer.concat(parts)
    .toString('utf8')
    .replace(/[\r\n]+$/, '');
  if (prompt.trim() === '') throw new UsageError('run', 'the prompt on standard input is empty');
  return prompt;
}

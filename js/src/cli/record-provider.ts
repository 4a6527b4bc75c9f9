/**
 * The subcommand record-provider.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants } from 'node:os';

import { providerKey } from '../front/providers.js';
import { Recorder, saveRecording } from '../recording/recorder.js';
import { parseRecord, type RecordOptions } from './command-line.js';
import { Interrupt } from './interrupt.js';
import { Screen } from './screen.js';
import { HELP } from './usage.js';

/**
 * Records what is said to a model's API, until an interrupt or the end of the program that was given.
 *
 * @returns the exit status
 * @throws UsageError, or what kept it from listening or running the program
 */
export async function recordProvider(args: string[]): Promise<number> {
  const options = parseRecord(args, process.env);
  if (options === undefined) {
    process.stdout.write(HELP['record-provider']!);
    return 0;
  }
  const screen = new Screen(process.stdout, process.stderr, process.env);
  const { file, name, baseURL, key, provider, command } = options;
  const target = new URL(baseURL);
  const recorder = new Recorder({
    name,
    target,
    key: key === undefined ? undefined : (providerKey(provider, key, []) as Key),
    saved: (recording) => saveRecording(recording, file),
    told: (line) => screen.note('dim', line),
  });
  const server = createServer(recorder.handle);
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const here = `${origin}${target.pathname.replace(/\/$/, '')}`;
  const there = `${target.origin}${target.pathname.replace(/\/$/, '')}`;
  screen.note('dim', `${here} stands in front of ${there}; what is said goes to ${file}`);
  const interrupt = new Interrupt();
  const { signal } = interrupt.controller;
  let status = 0;
  try {
    if (command.length > 0) status = await along(options, { origin, here }, signal);
    else await once(signal, 'abort');
  } finally {
    interrupt.close();
    server.close();
    server.closeAllConnections();
  }
  await recorder.idle;
  const count = recorder.recording.interactions.length;
  if (count > 0) screen.note('dim', `${file} has ${count} interactions`);
  else screen.notice(`nothing was recorded, and ${file} was not written`);
  return count === 0 && command.length === 0 ? 1 : status;
}

interface Key {
  readonly header: string;
  readonly value: string;
}

/** Runs the program that is recorded, with the recorder's address in its environment. Resolves to its exit status. */
async function along(
  { command }: RecordOptions,
  { origin, here }: { readonly origin: string; readonly here: string },
  signal: AbortSignal,
): Promise<number> {
  const [file, ...args] = command;
  const child = spawn(file!, args, {
    stdio: 'inherit',
    env: {
      ...process.env,
      OPENAI_BASE_URL: here,
      ANTHROPIC_BASE_URL: origin,
      GOOGLE_GEMINI_BASE_URL: origin,
      OLLAMA_HOST: origin,
    },
  });
  signal.addEventListener('abort', () => child.kill('SIGINT'), { once: true });
  const [status, by] = (await once(child, 'exit').catch((error: unknown) => {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  })) as [number | null, NodeJS.Signals | null];
  return status ?? 128 + constants.signals[by!];
}

/**
 * Runs the built command in a process of its own.
 */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { access, mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { ProviderName } from '../../src/chat/options.gen.js';
import { VARIABLES } from '../../src/cli/variables.gen.js';
import { root } from '../instance/go-guest.js';

/** The built command. */
export const command = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** What surrounds a process. */
export interface Surroundings {
  /** Standard input; nothing if absent. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Told of what is written to standard output, and how to send a signal. */
  readonly onOutput?: (text: string, kill: (signal: NodeJS.Signals) => void) => void;
}

/** How a process ended. */
export interface Ended {
  readonly status: number | NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Fails before the tests do when the package is not built. */
export async function needCommand(): Promise<void> {
  for (const file of [command, join(command, '../../turncore-full.wasm')]) {
    await access(file).catch(() => {
      throw new Error(`${file} is missing: run make wasm, npm run build and npm run copy-assets`);
    });
  }
}

/** Runs the command to its end. A provider that happens to be in the environment takes no part. */
export function turncore(args: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  const { input = '', env = {}, onOutput } = surroundings;
  const plain = { ...process.env };
  for (const { baseURL, host, model, key } of Object.values(VARIABLES)) {
    for (const name of [baseURL, host, model, key]) if (name !== undefined) plain[name] = '';
  }
  return new Promise((ended, failed) => {
    const child = spawn(process.execPath, [command, ...args], {
      env: { ...plain, ...env },
      timeout: 120_000,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      onOutput?.(stdout, (signal) => child.kill(signal));
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.once('error', failed);
    child.once('close', (code, signal) => ended({ status: code ?? signal, stdout, stderr }));
  });
}

/** What the last line of an event log says. */
export interface EndLine {
  readonly event: 'end';
  readonly status: string;
  readonly iterations: number;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly thoughts: readonly string[];
  readonly toolCalls: readonly {
    readonly tool: string;
    readonly args: unknown;
    readonly isError: boolean;
    readonly results: string;
  }[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The last line of an event log. */
export function endLine(stdout: string): EndLine {
  return JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as EndLine;
}

/** An empty folder that goes with this process. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'turncore-cli-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What makes two runs comparable byte by byte. */
export const reproducible = ['--fixed-clock', '--seed', '1'];

/** A conversation with a provider, as far as it is of interest to the command. */
export interface Spoken {
  readonly provider: ProviderName;
  readonly model: string;
  readonly base: string;
  readonly path: string;
  readonly key: readonly [string, string];
  readonly replies: readonly { readonly type: string; readonly body: string }[];
}

/** The conversations that tests of Go and JavaScript share. */
export async function conversations(): Promise<readonly Spoken[]> {
  const file = new URL('runtime/testdata/providers/conversations.json', root);
  return (JSON.parse(await readFile(file, 'utf8')) as { cases: readonly Spoken[] }).cases;
}

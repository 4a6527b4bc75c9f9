/**
 * Programs as tools.
 */
import { isUtf8 } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

import { type AnyTool, Tool } from '../tools/tool.js';
import type { ProgramToolOptions } from './command-line.js';

/** Largest result in bytes. */
const MAX_RESULT = 4 << 20;
/** Bytes kept of a program's standard error. */
const MAX_REASON = 4 << 10;
/** Milliseconds for which a program's own children may keep its output open after its end. */
const LINGER = 1000;

/**
 * A tool that runs a command line. The program gets the arguments as JSON on standard input. Its standard output is the
 * result; if it fails, its standard error is the reason.
 */
export function programTool(options: ProgramToolOptions): AnyTool {
  const { name, description, program } = options;
  return new Tool({
    name,
    description,
    inputSchema: { type: 'object', additionalProperties: true },
    handler: (args, ctx) => runProgram(program, JSON.stringify(args), ctx.abortSignal),
  });
}

/**
 * Runs a command line of the shell to its end.
 *
 * @param signal ends it
 * @returns its standard output, without the last line end
 * @throws Error (rejects) if it cannot be started, fails or writes too much; the signal's reason if that ended it
 */
export async function runProgram(
  program: string,
  input: string,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  // With a process group of its own, Ctrl-C reaches only this process, which then ends the whole group.
  const child = spawn(program, { shell: true, detached: hasGroups, stdio: 'pipe' });
  const kill = (): void => killGroup(child);
  signal.addEventListener('abort', kill, { once: true });
  try {
    const result = new Beginning(child.stdout, MAX_RESULT);
    const reason = new Beginning(child.stderr, MAX_REASON);
    // A program need not read its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    const failure = await ended(child);
    signal.throwIfAborted();
    if (failure !== undefined) throw new Error(reason.text().trim() || failure);
    if (result.cut) throw new Error(`the result is longer than ${MAX_RESULT} bytes`);
    return result.text().replace(/\r?\n$/, '');
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

const hasGroups = process.platform !== 'win32';

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    if (hasGroups) process.kill(-child.pid, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // It has ended already.
  }
}

/** Waits for the end of a program and its output. Resolves to its failure; undefined if it succeeded. */
function ended(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let linger: NodeJS.Timeout | undefined;
    child.once('error', reject);
    child.once('exit', () => {
      linger = setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, LINGER);
    });
    child.once('close', (code, signal) => {
      clearTimeout(linger);
      if (code === 0) resolve(undefined);
      else resolve(code === null ? `signal: ${nameOf(signal)}` : `exit status ${code}`);
    });
  });
}

/** Names of the signals that end programs. */
const SIGNALS: Readonly<Partial<Record<NodeJS.Signals, string>>> = {
  SIGABRT: 'aborted',
  SIGBUS: 'bus error',
  SIGFPE: 'floating point exception',
  SIGHUP: 'hangup',
  SIGILL: 'illegal instruction',
  SIGINT: 'interrupt',
  SIGKILL: 'killed',
  SIGPIPE: 'broken pipe',
  SIGQUIT: 'quit',
  SIGSEGV: 'segmentation fault',
  SIGTERM: 'terminated',
};

function nameOf(signal: NodeJS.Signals | null): string {
  return signal === null ? 'unknown' : (SIGNALS[signal] ?? signal);
}

/** The beginning of a stream. The rest is read and dropped. */
class Beginning {
  cut = false;
  readonly #parts: Buffer[] = [];

  constructor(stream: Readable, limit: number) {
    let room = limit;
    stream.on('data', (data: Buffer) => {
      this.cut ||= data.length > room;
      if (room > 0) this.#parts.push(data.subarray(0, room));
      room -= Math.min(room, data.length);
    });
  }

  /** The beginning as text. Each run of bytes that are not UTF-8 becomes one replacement character. */
  text(): string {
    const bytes = Buffer.concat(this.#parts);
    const text = bytes.toString('utf8');
    return isUtf8(bytes) ? text : text.replace(/\ufffd+/g, '\ufffd');
  }
}

/**
 * Output for people.
 */
import { isTurncoreError } from '../errors.js';
import { errorJSON } from '../events/error-json.js';
import type { Environment } from './command-line.js';

/** A stream that may be a terminal. */
export interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** The codes that begin and end a style on a terminal. */
const STYLES = {
  dim: [2, 22],
  red: [31, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** The style of a line on a terminal. */
export type Style = keyof typeof STYLES;

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
/** Milliseconds per frame. */
const FRAME = 100;
/** Bound on the shown chain of causes. */
const MAX_CAUSES = 8;

/**
 * Writes the answer to standard output and everything else to standard error. On a terminal it uses colours, unless
 * NO_COLOR is set, and shows what it waits for. Text of models and tools cannot move the cursor or change the terminal.
 */
export class Screen {
  readonly #out: Output;
  readonly #err: Output;
  /** Both are the same terminal. */
  readonly #shared: boolean;
  readonly #colours: boolean;
  readonly #spins: boolean;
  /** The cursor is after an unfinished line. */
  #outMid = false;
  #errMid = false;
  #spinner: NodeJS.Timeout | undefined;

  constructor(out: Output, err: Output, env: Environment) {
    this.#out = out;
    this.#err = err;
    this.#shared = out.isTTY === true && err.isTTY === true;
    this.#spins = err.isTTY === true && env['TERM'] !== 'dumb';
    this.#colours = this.#spins && (env['NO_COLOR'] ?? '') === '';
  }

  /** Shows what the turn waits for, until there is other output. */
  busy(what: string): void {
    // It would erase an unfinished line.
    if (!this.#spins || this.#errMid || (this.#shared && this.#outMid)) return;
    this.#quiet();
    const text = printable(what);
    let frame = 0;
    const draw = (): void => {
      this.#err.write(`\r\x1b[K${FRAMES[frame++ % FRAMES.length]!} ${text}`);
    };
    draw();
    this.#spinner = setInterval(draw, FRAME).unref();
  }

  /** Removes the output of {@link busy}. */
  #quiet(): void {
    if (this.#spinner === undefined) return;
    clearInterval(this.#spinner);
    this.#spinner = undefined;
    this.#err.write('\r\x1b[K');
  }

  /** Writes a line to standard output, each part in its style. */
  styled(parts: readonly (readonly [style: Style | undefined, text: string])[]): void {
    for (const [style, part] of parts) {
      const text = this.#out.isTTY === true ? printable(part) : part;
      this.#out.write(style === undefined || text === '' ? text : this.#paint(style, text));
    }
    this.#out.write('\n');
  }

  /** Writes to standard output. */
  print(text: string): void {
    if (text === '') return;
    this.#quiet();
    if (this.#shared && this.#errMid) {
      this.#err.write('\n');
      this.#errMid = false;
    }
    this.#out.write(this.#out.isTTY === true ? printable(text) : text);
    this.#outMid = !text.endsWith('\n');
  }

  /** Adds a remark to the output on a terminal. A program that reads the output gets nothing but the answer. */
  aside(text: string): void {
    if (this.#out.isTTY === true) this.print(this.#outMid ? ` ${text}` : text);
  }

  /** Ends the line on standard output if it is unfinished. */
  line(): void {
    if (this.#outMid) this.print('\n');
  }

  /** Writes a part of a streaming text to standard error. */
  whisper(text: string): void {
    if (text === '') return;
    this.#quiet();
    if (!this.#errMid) this.#ready();
    this.#err.write(this.#paint('dim', printable(text)));
    this.#errMid = !text.endsWith('\n');
  }

  /** Writes a line to standard error. */
  note(style: Style, text: string): void {
    this.#quiet();
    this.#ready();
    this.#err.write(`${this.#paint(style, printable(text))}\n`);
  }

  /** Writes about something that a user may not expect. */
  notice(text: string): void {
    this.note('yellow', `note: ${text}`);
  }

  /** Writes about an error: code, message, causes and remedy. */
  failure(error: unknown): void {
    const first = describe(error);
    this.note('red', `error: ${first}`);
    let help = '';
    let cause = error;
    for (let depth = 0; depth < MAX_CAUSES && isObject(cause); depth++) {
      const text = describe(cause);
      if (isTurncoreError(cause)) {
        if (depth > 0 && !first.includes(text)) this.note('dim', `  because of ${text}`);
        if (help === '') help = cause.help ?? '';
      }
      cause = cause['cause'];
    }
    if (help !== '') this.note('dim', `  ${help}`);
  }

  /** Ends unfinished lines. */
  close(): void {
    this.#quiet();
    this.#ready();
  }

  /** Moves the cursor to the beginning of a line of standard error. */
  #ready(): void {
    if (this.#shared && this.#outMid) {
      this.#out.write('\n');
      this.#outMid = false;
    }
    if (this.#errMid) {
      this.#err.write('\n');
      this.#errMid = false;
    }
  }

  #paint(style: Style, text: string): string {
    if (!this.#colours) return text;
    const [begin, end] = STYLES[style];
    return `\x1b[${begin}m${text}\x1b[${end}m`;
  }
}

/** Code and message of an error. */
export function describe(error: unknown): string {
  const { code, message } = errorJSON(error);
  // The class of a plain error means nothing, and system errors have their code in the message.
  return code === 'Error' || message.startsWith(code) ? message : `${code}: ${message}`;
}

/** Replaces control characters, except tabs and line ends. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '\ufffd');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/**
 * Arithmetic: decimal numbers, + - * /, signs and parentheses.
 */

/** How deep an expression may nest. */
const MAX_PARENTHESES = 100;

/**
 * Evaluates an expression with the usual precedence.
 *
 * @returns the result as JavaScript writes numbers
 * @throws Error saying where the expression is wrong, or that the result is no number
 */
export function calculate(expression: string): string {
  const result = new Arithmetic(expression).result();
  if (!Number.isFinite(result)) throw new Error('the result is not a finite number');
  return String(result);
}

/** An expression that is being read. */
class Arithmetic {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  result(): number {
    const n = this.#sum();
    if (this.#next() !== '') throw this.#unexpected();
    return n;
  }

  /** The next character that is not a space; empty at the end. */
  #next(): string {
    while (/[ \t\r\n]/.test(this.#text.charAt(this.#at))) this.#at++;
    return this.#text.charAt(this.#at);
  }

  #take(char: string): boolean {
    const there = this.#next() === char;
    if (there) this.#at++;
    return there;
  }

  #unexpected(): Error {
    const code = this.#next() === '' ? undefined : this.#text.codePointAt(this.#at);
    if (code === undefined) return new Error('the expression ends too early');
    return new Error(`unexpected ${JSON.stringify(String.fromCodePoint(code))}`);
  }

  #sum(): number {
    let n = this.#product();
    for (;;) {
      if (this.#take('+')) n += this.#product();
      else if (this.#take('-')) n -= this.#product();
      else return n;
    }
  }

  #product(): number {
    let n = this.#factor();
    for (;;) {
      if (this.#take('*')) {
        n *= this.#factor();
      } else if (this.#take('/')) {
        const divisor = this.#factor();
        if (divisor === 0) throw new Error('division by zero');
        n /= divisor;
      } else {
        return n;
      }
    }
  }

  #factor(): number {
    let sign = 1;
    for (;;) {
      if (this.#take('-')) sign = -sign;
      else if (!this.#take('+')) break;
    }
    if (!this.#take('(')) return sign * this.#number();
    if (++this.#depth > MAX_PARENTHESES) {
      throw new Error(`parentheses nest deeper than ${MAX_PARENTHESES}`);
    }
    const n = this.#sum();
    if (!this.#take(')')) throw this.#unexpected();
    this.#depth--;
    return sign * n;
  }

  #number(): number {
    const pattern = /[\d.]+/y;
    pattern.lastIndex = this.#at;
    const [digits] = pattern.exec(this.#text) ?? [];
    if (digits === undefined) throw this.#unexpected();
    const n = Number(digits);
    if (!Number.isFinite(n)) throw new Error(`${JSON.stringify(digits)} is no number`);
    this.#at += digits.length;
    return n;
  }
}

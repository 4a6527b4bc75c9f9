// Arithmetic on text, without eval.

/** Characters that an expression may have. It also bounds how deep it nests. */
const MAX_LENGTH = 500;

/**
 * The value of an expression of numbers, + - * / % ^ and parentheses.
 *
 * @throws Error saying what is wrong and where
 */
export function calculate(expression) {
  if (expression.length > MAX_LENGTH) {
    throw new Error(`an expression has at most ${MAX_LENGTH} characters`);
  }
  const parser = new Parser(
    expression.replaceAll('×', '*').replaceAll('÷', '/').replaceAll('−', '-'),
  );
  const value = parser.sum();
  parser.end();
  if (!Number.isFinite(value)) throw new Error('the result is too large');
  // Twelve digits hide what binary fractions add: 0.1 + 0.2 is 0.3.
  return Number(value.toPrecision(12));
}

const number = /\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?/iy;

class Parser {
  #text;
  #at = 0;

  constructor(text) {
    this.#text = text;
  }

  sum() {
    let value = this.#product();
    for (;;) {
      if (this.#takes('+')) value += this.#product();
      else if (this.#takes('-')) value -= this.#product();
      else return value;
    }
  }

  end() {
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected();
  }

  #product() {
    let value = this.#signed();
    for (;;) {
      if (this.#takes('*')) value *= this.#signed();
      else if (this.#takes('/')) value /= this.#divisor();
      else if (this.#takes('%')) value %= this.#divisor();
      else return value;
    }
  }

  #divisor() {
    const value = this.#signed();
    if (value === 0) throw new Error('division by zero');
    return value;
  }

  #signed() {
    if (this.#takes('-')) return -this.#signed();
    if (this.#takes('+')) return this.#signed();
    return this.#power();
  }

  #power() {
    const base = this.#operand();
    // Right to left, and the exponent may have a sign: 2^-3^2 is 2^(-(3^2)).
    return this.#takes('^') ? base ** this.#signed() : base;
  }

  #operand() {
    if (this.#takes('(')) {
      const value = this.sum();
      if (!this.#takes(')')) throw this.#unexpected();
      return value;
    }
    this.#skipSpace();
    number.lastIndex = this.#at;
    const match = number.exec(this.#text);
    if (match === null) throw this.#unexpected();
    this.#at = number.lastIndex;
    return Number(match[0]);
  }

  #takes(character) {
    this.#skipSpace();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpace() {
    while (this.#at < this.#text.length && this.#text[this.#at].trim() === '') this.#at++;
  }

  #unexpected() {
    const found = this.#text[this.#at];
    return new Error(
      found === undefined
        ? 'the expression ends too early'
        : `unexpected ${JSON.stringify(found)} at character ${this.#at + 1}`,
    );
  }
}

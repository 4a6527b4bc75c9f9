/**
 * Finds values for a tool's arguments in a text.
 */
import { isObject, lowerCase, sortedJSON } from './text.js';

/**
 * Looks for a value for each property of a schema.
 *
 * @param schema the tool's parameters; anything that is not a schema has no properties
 * @returns JSON text of an object
 */
export function findArguments(text: string, schema: unknown): string {
  const properties = isObject(schema) ? schema['properties'] : undefined;
  if (!isObject(properties)) return '{}';
  const finder = new Finder(text);
  const members: string[] = [];
  for (const [name, property] of Object.entries(properties)) {
    const value = finder.find(name, isObject(property) ? property : {});
    if (value !== undefined) members.push(`${sortedJSON(name)}:${value}`);
  }
  return `{${members.join(',')}}`;
}

/** Hands out what a text holds, each piece once. */
class Finder {
  readonly #text: string;
  readonly #lower: string;
  readonly #numbers: string[];
  readonly #quoted: string[];
  readonly #names: string[];
  #nextNumber = 0;
  #nextString = 0;

  constructor(text: string) {
    this.#text = text;
    this.#lower = lowerCase(text);
    this.#numbers = text.match(/-?\d+(?:\.\d+)?/g) ?? [];
    this.#quoted = Array.from(text.matchAll(/"([^"]*)"/g), (match) => match[1]!);
    // The first word of a sentence is no name.
    this.#names = Array.from(text.matchAll(/\b[A-Z]\p{L}+/gu))
      .filter((match) => match.index > 0)
      .map((match) => match[0]);
  }

  /** JSON text of a value, or undefined for a property of a type that nothing is found for. */
  find(name: string, property: Record<string, unknown>): string | undefined {
    const choices = property['enum'];
    if (Array.isArray(choices) && choices.length > 0) {
      const mentioned = choices.findIndex((choice) => this.#mentions(choice));
      return sortedJSON(choices[Math.max(mentioned, 0)]);
    }
    switch (property['type']) {
      case 'number':
        return this.#number();
      case 'integer':
        return this.#number().split('.', 1)[0];
      case 'boolean':
        return 'true';
      case 'string':
        return sortedJSON(this.#string(name));
      default:
        return undefined;
    }
  }

  /** Tells whether the text holds a choice. Null is nothing to look for, so it is always there. */
  #mentions(choice: unknown): boolean {
    if (choice === null) return true;
    return typeof choice === 'string' && this.#lower.includes(lowerCase(choice));
  }

  #number(): string {
    return this.#numbers[this.#nextNumber++] ?? '1';
  }

  /** The next quoted part, what looks like an expression, the next name, or the whole text. */
  #string(name: string): string {
    const n = this.#nextString++;
    return (
      this.#quoted[n] ??
      (name === 'expression' ? findExpression(this.#text) : undefined) ??
      this.#names[n] ??
      this.#text
    );
  }
}

/** The first part of a text that looks like arithmetic: from a digit or parenthesis to a later one. */
function findExpression(text: string): string | undefined {
  for (const [run] of text.matchAll(/[\d\t\n\f\r .+*/()-]+/g)) {
    const start = run.search(/[(\d]/);
    let end = run.length - 1;
    while (end > start && !/[\d)]/.test(run[end]!)) end--;
    if (start >= 0 && end > start) return run.slice(start, end + 1);
  }
  return undefined;
}

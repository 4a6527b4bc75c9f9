/**
 * Checks values against the rules that host and module share, and converts them to the package's own form.
 */
import type { CommonCode } from '../abi/codes.gen.js';
import { type CrossRule, type FieldRules, PHRASES, type TypeRules } from '../abi/rules.gen.js';
import { isTurncoreError, TurncoreError } from '../errors.js';
import type { CheckedAs } from './checked.js';
import {
  type ClassKinds,
  convert,
  type Conversion,
  invalid,
  isAbsent,
  isObject,
} from './field-kinds.js';
import { suggest } from './suggest.js';

/** The classes in the rules of a type. */
export interface Classes extends ClassKinds {
  /** Tell whether a value is an instance of the class of that name. */
  readonly instances?: Readonly<Record<string, (value: unknown) => boolean>>;
  /** Lists further violations of the object, beside those that its rules found. */
  readonly also?: (
    raw: Readonly<Record<string, unknown>>,
    found: readonly string[],
  ) => readonly string[];
}

/** The values of an object, checked or not, whatever its type. */
export type Checked = Readonly<Record<string, unknown>>;

/** A field's rules with every member present: engines read objects of one shape several times faster. */
interface Field {
  readonly name: string;
  readonly kind: FieldRules['kind'];
  readonly required: boolean;
  readonly nonEmpty: boolean;
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly enum: readonly string[] | undefined;
  readonly class: string | undefined;
  readonly params: number | undefined;
  readonly default: unknown;
  readonly aliases: readonly string[] | undefined;
  readonly item: Field | undefined;
}

/** A type's rules, prepared for checking. */
interface Plan {
  readonly type: TypeRules;
  readonly cross: readonly CrossRule[];
  readonly lenient: boolean;
  readonly fields: readonly Field[];
  /** The allowed names, with the fields that they stand for. */
  readonly names: ReadonlyMap<string, string>;
}

const plans = new Map<TypeRules, Plan>();

/**
 * Checks an object and returns its values.
 *
 * @param type the rules of its type
 * @param classes the classes in the type's rules
 * @throws TurncoreError with the type's code; its message and details list every violation
 */
export function check<const T extends TypeRules, const C extends Classes = Classes>(
  type: T,
  raw: unknown,
  classes?: C,
): CheckedAs<T, C>;
export function check(type: TypeRules, raw: unknown, classes: Classes = {}): Checked {
  const plan = planOf(type);
  const checking = new Checking(plan, classes);
  checking.object(raw);
  const { violations, values } = checking;
  if (violations.length > 0) throw violationError(plan.type.code as CommonCode, violations);
  return values;
}

/** An error that lists violations: in its message, its details and its cause. */
export function violationError(code: CommonCode, violations: readonly string[]): TurncoreError {
  const text = violations.join('; ');
  return TurncoreError.of(code, text, {
    details: violations,
    cause: TurncoreError.of('VALIDATION_EXCEPTION', violations.join(' and '), {
      details: violations,
    }),
  });
}

function planOf(type: TypeRules): Plan {
  let plan = plans.get(type);
  if (plan === undefined) {
    const names = new Map<string, string>();
    for (const [field, rules] of Object.entries(type.fields)) {
      names.set(field, field);
      for (const alias of rules.aliases ?? []) names.set(alias, field);
    }
    const fields = Object.entries(type.fields).map(([field, rules]) => fieldOf(field, rules));
    plan = { type, cross: type.cross ?? [], lenient: type.convert === true, fields, names };
    plans.set(type, plan);
  }
  return plan;
}

function fieldOf(name: string, rules: FieldRules): Field {
  return {
    name,
    kind: rules.kind,
    required: rules.required === true,
    nonEmpty: rules.nonEmpty === true,
    min: rules.min,
    max: rules.max,
    enum: rules.enum,
    class: rules.class,
    params: rules.params,
    default: rules.default,
    aliases: rules.aliases,
    item: rules.item && fieldOf('', rules.item),
  };
}

/** The check of one object. */
class Checking {
  readonly values: Record<string, unknown> = {};
  readonly violations: string[] = [];
  readonly #plan: Plan;
  readonly #classes: Classes;
  /** The field that is being converted. */
  #field = '';
  readonly #report = (part: string): void => void this.violations.push(within(this.#field, part));

  constructor(plan: Plan, classes: Classes) {
    this.#plan = plan;
    this.#classes = classes;
  }

  object(raw: unknown): void {
    const { type, cross } = this.#plan;
    if (!isObject(raw)) {
      this.#refuse('type', { type: type.title });
      return;
    }
    this.#fields(raw);
    for (const rule of cross) {
      const { field, other } = rule;
      if (breaks(rule, raw, this.values)) this.#refuse(rule.rule, { field, other });
    }
    const { also } = this.#classes;
    if (also !== undefined) this.violations.push(...also(raw, this.violations));
  }

  /** Notes a violation. */
  #refuse(rule: keyof typeof PHRASES, words: Readonly<Record<string, string>>): typeof invalid {
    this.violations.push(phrase(rule, words));
    return invalid;
  }

  #fields(raw: Checked): void {
    const { fields, names } = this.#plan;
    for (const field of fields) {
      const { name, aliases } = field;
      let value = raw[name];
      let given = name;
      if (aliases !== undefined) {
        for (const alias of aliases) {
          if (raw[alias] === undefined) continue;
          if (value !== undefined) this.#refuse('alias', { alias, field: given });
          else {
            value = raw[alias];
            given = alias;
          }
        }
      }
      if (!isAbsent(value)) {
        const isList = field.kind === 'list';
        const checked = isList ? this.#list(given, field, value) : this.#value(given, field, value);
        if (checked !== invalid) this.values[name] = checked;
      } else if (field.required) this.#refuse('required', { field: given });
      else if (field.default !== undefined) this.values[name] = field.default;
    }
    for (const key of Object.keys(raw)) {
      if (!names.has(key)) {
        this.violations.push(unknownField('', key, Object.keys(this.#plan.type.fields)));
      }
    }
  }

  #list(field: string, { item, nonEmpty }: Field, value: unknown): Conversion {
    if (!Array.isArray(value)) {
      const byName = item?.kind === 'instance' && isObject(value);
      return this.#refuse(byName ? 'byName' : 'list', { field });
    }
    const list = value as unknown[];
    if (nonEmpty && list.length === 0) return this.#refuse('nonEmptyList', { field });
    if (item === undefined) return list.slice();
    const checked: unknown[] = [];
    for (let i = 0; i < list.length; i++)
      checked.push(this.#value(`${field}[${i}]`, item, list[i]));
    return checked;
  }

  #value(field: string, rules: Field, value: unknown): Conversion {
    if (rules.kind === 'instance') {
      const test = this.#classes.instances?.[rules.class ?? ''];
      if (test?.(value) === true) return value;
      return this.#refuse('instance', { field, class: rules.class ?? 'its class' });
    }
    const { violations } = this;
    const before = violations.length;
    this.#field = field;
    const checked = convert(rules.kind, value, this.#plan.lenient, this.#report, this.#classes);
    if (checked === invalid) {
      if (violations.length > before) return invalid;
      const empty = rules.kind === 'results' && Array.isArray(value) && value.length === 0;
      return this.#refuse(empty ? 'nonEmptyList' : rules.kind, { field });
    }
    if (rules.nonEmpty && value === '') return this.#refuse('nonEmpty', { field });
    if (rules.enum !== undefined && !rules.enum.includes(checked as string)) {
      const values = rules.enum.map((v) => `"${v}"`).join(', ');
      return this.#refuse('enum', { field, values });
    }
    const { min, max, params } = rules;
    if (min !== undefined && max !== undefined) {
      const n = checked as number;
      if (!(n >= min && n <= max)) {
        return this.#refuse('range', { field, min: `${min}`, max: `${max}` });
      }
    }
    if (params !== undefined && typeof checked === 'function' && checked.length > params) {
      return this.#refuse('params', { field, max: `${params}` });
    }
    return checked;
  }
}

/** Whether an object breaks a rule about two of its fields. */
function breaks({ rule, field, other }: CrossRule, raw: Checked, values: Checked): boolean {
  switch (rule) {
    case 'exactlyOne': // A wrong value was reported before.
      return isAbsent(raw[field]) === isAbsent(raw[other]);
    case 'either':
      return isAbsent(raw[field]) && isAbsent(raw[other]);
    case 'requires':
      return values[field] !== undefined && values[other] === undefined;
    case 'requiredWithout': // An empty string counts as absent, an empty Tokenizable does not.
      return values[other] === undefined && (isAbsent(raw[field]) || raw[field] === '');
  }
}

/** A violation inside a field's value, with the field's name before it. */
export function within(field: string, part: string): string {
  if (!part.startsWith('`')) return `${field}: ${part}`;
  return part.startsWith('`[') ? `\`${field}${part.slice(1)}` : `\`${field}.${part.slice(1)}`;
}

/** Lists the violations that a check finds in a field's value. */
export function violationsIn(field: string, checkValue: () => unknown): string[] {
  try {
    checkValue();
    return [];
  } catch (error) {
    if (!isTurncoreError(error) || !Array.isArray(error.details)) throw error;
    return error.details.map((part) => within(field, String(part)));
  }
}

/** The violation for an unknown field, with the known one that is likely meant. */
export function unknownField(path: string, name: string, known: readonly string[]): string {
  const field = path + name;
  const meant = suggest(name, known);
  return meant === undefined
    ? phrase('unknown', { field })
    : phrase('suggested', { field, known: meant });
}

/** The message of a broken rule. */
export function phrase(
  rule: keyof typeof PHRASES,
  words: Readonly<Record<string, string>>,
): string {
  return PHRASES[rule].replace(/\{(\w+)\}/g, (_, word: string) => words[word] ?? '');
}

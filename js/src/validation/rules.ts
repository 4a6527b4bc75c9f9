/**
 * Checks values against the rules that host and module share, and converts them to the package's own form.
 */
import type { ErrorCode } from '../abi/codes.gen.js';
import {
  type CrossRule,
  type FieldRules,
  PHRASES,
  RULES,
  type RuledType,
  type TypeRules,
} from '../abi/rules.gen.js';
import { isTurncoreError, TurncoreError } from '../errors.js';
import type { CheckedAs } from './checked.js';
import { type ClassKinds, convert, type Conversion, invalid, isObject } from './field-kinds.js';
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

/** A type's rules, prepared for checking. */
interface Plan {
  readonly type: TypeRules;
  readonly fields: readonly (readonly [name: string, rules: FieldRules])[];
  /** The allowed names, with the fields that they stand for. */
  readonly names: ReadonlyMap<string, string>;
}

const plans = new Map<RuledType | TypeRules, Plan>();

/**
 * Checks an object and returns its values.
 *
 * @param type name of a type whose rules host and module share, or the rules of one that only the host has
 * @param classes the classes in the type's rules
 * @throws TurncoreError with the type's code; its message and details list every violation
 */
export function check<const T extends RuledType | TypeRules, const C extends Classes = Classes>(
  type: T,
  raw: unknown,
  classes?: C,
): CheckedAs<T, C>;
export function check(type: RuledType | TypeRules, raw: unknown, classes: Classes = {}): Checked {
  const plan = planOf(type);
  const violations: string[] = [];
  const values: Record<string, unknown> = {};
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    violations.push(phrase('type', { type: plan.type.title }));
  } else {
    checkFields(plan, raw as Record<string, unknown>, values, classes, violations);
    for (const rule of plan.type.cross ?? []) {
      checkCross(rule, raw as Record<string, unknown>, values, violations);
    }
    if (classes.also !== undefined)
      violations.push(...classes.also(raw as Record<string, unknown>, violations));
  }
  if (violations.length > 0) throw violationError(plan.type.code as ErrorCode, violations);
  return values;
}

/** An error that lists violations: in its message, its details and its cause. */
export function violationError(code: ErrorCode, violations: readonly string[]): TurncoreError {
  const text = violations.join('; ');
  return TurncoreError.of(code, text, {
    details: violations,
    cause: TurncoreError.of('VALIDATION_EXCEPTION', violations.join(' and '), {
      details: violations,
    }),
  });
}

function planOf(name: RuledType | TypeRules): Plan {
  let plan = plans.get(name);
  if (plan === undefined) {
    const type: TypeRules = typeof name === 'string' ? RULES[name] : name;
    const names = new Map<string, string>();
    for (const [field, rules] of Object.entries(type.fields)) {
      names.set(field, field);
      for (const alias of rules.aliases ?? []) names.set(alias, field);
    }
    plan = { type, fields: Object.entries(type.fields), names };
    plans.set(name, plan);
  }
  return plan;
}

function checkFields(
  plan: Plan,
  raw: Record<string, unknown>,
  values: Record<string, unknown>,
  classes: Classes,
  violations: string[],
): void {
  for (const [name, rules] of plan.fields) {
    let value = raw[name];
    let given = name;
    if (rules.aliases !== undefined) {
      for (const alias of rules.aliases) {
        if (raw[alias] === undefined) continue;
        if (value !== undefined) violations.push(phrase('alias', { alias, field: given }));
        else {
          value = raw[alias];
          given = alias;
        }
      }
    }
    checkField(plan.type, name, given, rules, value, values, classes, violations);
  }
  for (const key of Object.keys(raw)) {
    if (!plan.names.has(key)) violations.push(unknownField('', key, Object.keys(plan.type.fields)));
  }
}

function checkField(
  type: TypeRules,
  name: string,
  given: string,
  rules: FieldRules,
  value: unknown,
  values: Record<string, unknown>,
  classes: Classes,
  violations: string[],
): void {
  if (value === undefined || value === null) {
    if (rules.required === true) violations.push(phrase('required', { field: given }));
    else if (rules.default !== undefined) values[name] = rules.default;
    return;
  }
  const checked =
    rules.kind === 'list'
      ? checkList(type, given, rules, value, classes, violations)
      : checkValue(type, given, rules, value, classes, violations);
  if (checked !== invalid) values[name] = checked;
}

function checkList(
  type: TypeRules,
  field: string,
  rules: FieldRules,
  value: unknown,
  classes: Classes,
  violations: string[],
): Conversion {
  if (!Array.isArray(value)) {
    const byName = rules.item?.kind === 'instance' && isObject(value);
    violations.push(phrase(byName ? 'byName' : 'list', { field }));
    return invalid;
  }
  const item = rules.item;
  const list = value as unknown[];
  if (rules.nonEmpty === true && list.length === 0) {
    violations.push(phrase('nonEmptyList', { field }));
    return invalid;
  }
  if (item === undefined) return list.slice();
  const checked: unknown[] = [];
  for (let i = 0; i < list.length; i++) {
    checked.push(checkValue(type, `${field}[${i}]`, item, list[i], classes, violations));
  }
  return checked;
}

function checkValue(
  type: TypeRules,
  field: string,
  rules: FieldRules,
  value: unknown,
  classes: Classes,
  violations: string[],
): Conversion {
  if (rules.kind === 'instance') {
    const test = classes.instances?.[rules.class ?? ''];
    if (test?.(value) === true) return value;
    violations.push(phrase('instance', { field, class: rules.class ?? 'its class' }));
    return invalid;
  }
  const before = violations.length;
  const report = (part: string): void => void violations.push(within(field, part));
  const checked = convert(rules.kind, value, type.convert === true, report, classes);
  if (checked === invalid) {
    if (violations.length === before) {
      const empty = rules.kind === 'results' && Array.isArray(value) && value.length === 0;
      violations.push(phrase(empty ? 'nonEmptyList' : rules.kind, { field }));
    }
    return invalid;
  }
  if (rules.nonEmpty === true && value === '') {
    violations.push(phrase('nonEmpty', { field }));
    return invalid;
  }
  if (rules.enum !== undefined && !rules.enum.includes(checked as string)) {
    const values = rules.enum.map((v) => `"${v}"`).join(', ');
    violations.push(phrase('enum', { field, values }));
    return invalid;
  }
  if (rules.min !== undefined && rules.max !== undefined) {
    const n = checked as number;
    if (!(n >= rules.min && n <= rules.max)) {
      violations.push(phrase('range', { field, min: `${rules.min}`, max: `${rules.max}` }));
      return invalid;
    }
  }
  if (
    rules.params !== undefined &&
    typeof checked === 'function' &&
    checked.length > rules.params
  ) {
    violations.push(phrase('params', { field, max: `${rules.params}` }));
    return invalid;
  }
  return checked;
}

function checkCross(rule: CrossRule, raw: Checked, values: Checked, violations: string[]): void {
  const { field, other } = rule;
  const value = values[field];
  switch (rule.rule) {
    case 'exactlyOne':
      // A wrong value was reported before.
      if (isAbsent(raw[field]) === isAbsent(raw[other])) {
        violations.push(phrase('exactlyOne', { field, other }));
      }
      return;
    case 'either':
      if (isAbsent(raw[field]) && isAbsent(raw[other])) {
        violations.push(phrase('either', { field, other }));
      }
      return;
    case 'requires':
      if (value !== undefined && values[other] === undefined) {
        violations.push(phrase('requires', { field, other }));
      }
      return;
    case 'requiredWithout':
      // An empty string counts as absent, an empty Tokenizable does not.
      if (values[other] === undefined && (isAbsent(raw[field]) || raw[field] === '')) {
        violations.push(phrase('requiredWithout', { field, other }));
      }
  }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
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

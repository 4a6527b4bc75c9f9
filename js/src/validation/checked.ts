/**
 * The types of checked values, read off the rules that checked them.
 */
import type { FieldRules, TypeRules } from '../abi/rules.gen.js';
import type { AnyFunction, invalid, ObjectSchema } from './field-kinds.js';

/** What values of a kind become, for kinds that need no class. */
interface Kinds {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
  readonly datetime: number;
  readonly function: AnyFunction;
  readonly middleware: AnyFunction;
  readonly object: Readonly<Record<string, unknown>>;
  readonly args: Readonly<Record<string, unknown>>;
  readonly schema: ObjectSchema;
  readonly identifier: string;
  readonly count: number;
  readonly timeout: number;
}

/** The fields of a type. */
type FieldsOf<T extends TypeRules> = T extends { readonly fields: infer F } ? F : never;

/** What a function gives that converts values of a kind. */
type Converted<F> = F extends (...args: never[]) => infer T ? Exclude<T, typeof invalid> : unknown;

/** The class that a function recognizes. */
type Recognized<F> = F extends (value: unknown) => value is infer T ? T : unknown;

/** What a field's value becomes. */
type ValueOf<R extends FieldRules, C> = R extends { enum: readonly (infer E)[] }
  ? E
  : R extends { kind: 'list'; item: infer I extends FieldRules }
    ? readonly ValueOf<I, C>[]
    : R extends { kind: 'instance'; class: infer N extends string }
      ? C extends { readonly instances: Readonly<Record<N, infer F>> }
        ? Recognized<F>
        : unknown
      : R['kind'] extends keyof C
        ? Converted<C[R['kind']]>
        : R['kind'] extends keyof Kinds
          ? Kinds[R['kind']]
          : unknown;

/** What a field has without a value: its default, if that is a word, which is not converted. */
type Absent<R extends FieldRules> = R extends { default: infer D }
  ? Extract<D, string>
  : R extends { required: true }
    ? never
    : undefined;

/**
 * The values of a checked object. Texts and other instances are what the classes C make of them, and times are ms. A
 * field may be undefined if it is neither required nor has a default.
 */
export type CheckedAs<T extends TypeRules, C = object> = T extends unknown
  ? {
      readonly [F in keyof FieldsOf<T>]: FieldsOf<T>[F] extends infer R extends FieldRules
        ? ValueOf<R, C> | Absent<R>
        : never;
    }
  : never;

/**
 * The types of arguments, as schemas tell them.
 */
import type { StandardSchema } from '../tools/standard-schema.js';

/** A schema of arguments: a Standard Schema such as Zod's, or a JSON Schema of type object. */
export type ToolSchema =
  StandardSchema | { readonly type: string; readonly [keyword: string]: unknown };

/** The type of a tool's arguments: any object where its schema does not tell. */
export type ToolParams<Schema> =
  Schema extends StandardSchema<unknown, infer Output>
    ? unknown extends Output
      ? AnyParams
      : Output
    : Schema extends { readonly properties: object }
      ? JsonSchemaType<Schema>
      : AnyParams;

/** Arguments of which nothing is known. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the tool's author knows them
export type AnyParams = Record<string, any>;

/** The type of what a JSON Schema describes that is written as a constant; any where it does not tell. */
export type JsonSchemaType<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly properties: infer Properties }
      ? JsonSchemaMembers<
          Properties,
          Schema extends { readonly required: readonly (infer Name)[] } ? Name : never
        >
      : Schema extends { readonly items: infer Item }
        ? JsonSchemaType<Item>[]
        : Schema extends { readonly type: infer Type extends keyof JsonSchemaNames }
          ? JsonSchemaNames[Type]
          : AnyParams[string];

/** The members of an object that a JSON Schema describes. Those that are not required may be missing. */
export type JsonSchemaMembers<Properties, Required> = {
  -readonly [Name in keyof Properties as Name extends Required ? Name : never]: JsonSchemaType<
    Properties[Name]
  >;
} & {
  -readonly [Name in keyof Properties as Name extends Required ? never : Name]?: JsonSchemaType<
    Properties[Name]
  >;
};

/** Types that have a name in JSON Schema. */
export interface JsonSchemaNames {
  readonly string: string;
  readonly number: number;
  readonly integer: number;
  readonly boolean: boolean;
  readonly null: null;
  readonly object: AnyParams;
  readonly array: AnyParams[string][];
}

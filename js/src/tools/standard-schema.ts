/**
 * Schemas of other libraries: the interface of standardschema.dev, version 1, and its JSON Schema part.
 */
import type { CommonCode } from '../abi/codes.gen.js';
import { isThenable, letGo } from '../awaitable.js';
import { invalidValue, TurncoreError } from '../errors.js';

/** A part of an issue's path. */
export type IssueStep = PropertyKey | { readonly key: PropertyKey };

/** A violation. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly IssueStep[] | undefined;
}

/** The result of a validation: the value, or the issues. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** Options of a request for a JSON Schema. */
export interface JSONSchemaOptions {
  readonly target: string;
}

/**
 * A Standard Schema, version 1, as made by Zod, Valibot, ArkType and others.
 *
 * @typeParam Input the input type
 * @typeParam Output the type after validation
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?:
      { readonly input: (options: JSONSchemaOptions) => Record<string, unknown> } | undefined;
  };
}

/** Whether a value is a Standard Schema. In some libraries it is a function. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard = (value as Partial<StandardSchema>)['~standard'];
  return typeof standard === 'object' && typeof standard.validate === 'function';
}

/**
 * The JSON Schema of a Standard Schema's input, as the library provides it.
 *
 * @returns undefined if the library provides none
 * @throws the library's error for a schema that has none
 */
export function inputJsonSchema(schema: StandardSchema): Record<string, unknown> | undefined {
  const options = { target: 'draft-2020-12' };
  const trait = schema['~standard'].jsonSchema;
  if (trait !== undefined) return trait.input(options);
  // Releases of Zod 4 before that trait have a method of the same meaning.
  const { toJSONSchema } = schema as { toJSONSchema?: unknown };
  if (typeof toJSONSchema !== 'function') return undefined;
  return toJSONSchema.call(schema, { ...options, io: 'input' }) as Record<string, unknown>;
}

/**
 * Validates arguments and returns the handler's arguments.
 *
 * @param tool name of the tool, for the message
 * @throws TurncoreError (rejects) E_INVALID_TOOL_ARGS, whose details list {path, message}; and any error of the
 * validation
 */
export async function validateArguments<Output>(
  schema: StandardSchema<unknown, Output>,
  tool: string,
  args: unknown,
): Promise<Output> {
  const result = requireResult(await schema['~standard'].validate(args), tool);
  if (result.issues === undefined) return result.value;
  throw issuesError('E_INVALID_TOOL_ARGS', tool, result.issues);
}

/**
 * Validates a gate's resolution, synchronously.
 *
 * @param gate id of the gate, for the message
 * @throws TurncoreError E_INVALID_TURN_GATE_RESOLUTION, whose details list {path, message}, and for a schema that
 *   validates asynchronously; and any error of the validation
 */
export function validateNow<Output>(
  schema: StandardSchema<unknown, Output>,
  gate: string,
  value: unknown,
): Output {
  const answer = schema['~standard'].validate(value);
  if (isThenable(answer)) {
    letGo(answer);
    throw TurncoreError.of(
      'E_INVALID_TURN_GATE_RESOLUTION',
      `${gate}: its schema validates asynchronously, and resolve answers at once`,
    );
  }
  const result = requireResult(answer, gate);
  if (result.issues === undefined) return result.value;
  throw issuesError('E_INVALID_TURN_GATE_RESOLUTION', gate, result.issues);
}

/** @throws TurncoreError E_INVALID_VALUE for anything but a value or a list of issues */
function requireResult<Output>(
  result: SchemaResult<Output>,
  subject: string,
): SchemaResult<Output> {
  const answer = result as { issues?: unknown; value?: unknown } | null;
  if (typeof answer === 'object' && answer !== null) {
    if (answer.issues === undefined ? 'value' in answer : Array.isArray(answer.issues))
      return result;
  }
  throw invalidValue(`the validation of ${subject}`, 'must give a value or issues');
}

/** Issues with paths as JSON Pointers. */
export function issueList(issues: readonly SchemaIssue[]): { path: string; message: string }[] {
  return issues.map((issue) => ({ path: pointerTo(issue.path ?? []), message: issue.message }));
}

function issuesError(
  code: CommonCode,
  subject: string,
  issues: readonly SchemaIssue[],
): TurncoreError {
  const details = issueList(issues);
  const list = details.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const cause = TurncoreError.of('VALIDATION_EXCEPTION', list.join(' and '), { details });
  return TurncoreError.of(code, `${subject}: ${list.join('; ')}`, { details, cause });
}

/** The JSON Pointer of a path. */
function pointerTo(path: readonly IssueStep[]): string {
  return path
    .map((step) => {
      const key = String(typeof step === 'object' ? step.key : step);
      return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    })
    .join('');
}

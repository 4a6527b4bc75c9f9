/**
 * The types of checked values. Compiling this is the test: what must not compile is marked with @ts-expect-error.
 */
import type { messageRules, thoughtRules, toolRules } from '../../src/abi/rules.gen.js';
import { turnGateRules, turnInputRules } from '../../src/abi/rules.gen.js';
import type { CheckedAs } from '../../src/validation/checked.js';
import { type Converter } from '../../src/validation/field-kinds.js';
import { check } from '../../src/validation/rules.js';

/** Holds when each type is assignable to the other. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
declare function expectSame<A, B>(proof: Same<A, B>): void;
declare function log(value: unknown): void;

class Text {
  readonly text = '';
}
class Picture {
  readonly width = 0;
}
declare const toText: Converter<Text>;
declare const toName: Converter<string | Text>;

const classes = {
  text: toText,
  message: toName,
  instances: {
    Media: (value: unknown): value is Picture => value instanceof Picture,
    AbortController: (value: unknown) => value !== undefined,
  },
};

// Fields have the types of their kinds. Those that are neither required nor have a default may be undefined.
const gate = check(turnGateRules, {});
expectSame<typeof gate.id, string>(true);
expectSame<typeof gate.createdAt, number>(true);
expectSame<typeof gate.timeout, number | undefined>(true);
expectSame<typeof gate.payload, unknown>(true);
// @ts-expect-error -- there is no such field
log(gate.nothing);

// Texts and other instances are what the classes make of them, in lists too.
const input = check(turnInputRules, {}, classes);
log(input);
expectSame<typeof input.systemPrompt, Text>(true);
expectSame<typeof input.standingInstructions, readonly Text[]>(true);
expectSame<typeof input.message, string | Text | undefined>(true);
expectSame<typeof input.attachments, readonly Picture[] | undefined>(true);
expectSame<typeof input.stash, Readonly<Record<string, unknown>>>(true);
// A function that recognizes no class leaves the type open, and so does a kind without a class.
expectSame<typeof input.turnAbortController, unknown>(true);
expectSame<CheckedAs<typeof turnInputRules>['systemPrompt'], unknown>(true);

// An enumeration is its values; a default that is a word is not converted.
type Thought = CheckedAs<typeof thoughtRules, { readonly identity: Converter<Picture> }>;
expectSame<CheckedAs<typeof messageRules>['role'], 'user' | 'assistant'>(true);
expectSame<CheckedAs<typeof toolRules>['onCollision'], 'throw' | 'replace' | 'keep'>(true);
expectSame<CheckedAs<typeof toolRules>['ephemeral'], boolean>(true);
expectSame<Thought['identity'], Picture | 'assistant'>(true);

// Rules that only the host has are types as well.
const options = check(
  { title: 't', code: 'E_INVALID_VALUE', fields: { n: { kind: 'count', required: true } } },
  {},
);
log(options);
expectSame<typeof options.n, number>(true);

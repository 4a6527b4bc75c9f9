/**
 * Records of tool calls.
 */
import { toolCallRules } from '../abi/rules.gen.js';
import type { Encoder } from '../codec/encoder.js';
import { writeToolCall } from '../codec/records.gen.js';
import { type Converter, invalid } from '../validation/field-kinds.js';
import { encodeBody, encodeItem, valuesOf, type Metadata, metadataViolations } from './body.js';
import { Media } from './media.js';
import { SpooledArtifact } from './spooled-artifact.js';
import type { Timestamp } from './timestamp.js';
import { type Tokenizable, toText } from './tokenizable.js';

/** Results of a tool call: text, one or several artifacts, or one or several media. */
export type ToolCallResults =
  Tokenizable | SpooledArtifact | readonly SpooledArtifact[] | Media | readonly Media[];

/** The fields of a {@link ToolCall}. */
export interface RawToolCall {
  /** Not empty; unique in its store. */
  readonly id: string;
  /** Name of the tool. */
  readonly tool: string;
  /** The arguments, or the JSON text of them. */
  readonly args: Readonly<Record<string, unknown>> | string;
  /** SHA-256 of tool and arguments, as in events. */
  readonly checksum: string;
  /** The execution that gave the results, as in events. */
  readonly executionId?: string | undefined;
  /** The provider's id of the call. */
  readonly providerCallId?: string | undefined;
  readonly isComplete: boolean;
  readonly isError: boolean;
  /** The call's results. A list is not empty and has one kind of entry. */
  readonly results: string | ToolCallResults;
  /** Data that a provider wants back unchanged: a JSON-like value. Needs replayCompatibility. */
  readonly payload?: unknown;
  /** Names the wire format of the payload. */
  readonly replayCompatibility?: string | undefined;
  /** Whether the results come from a tool that reads artifacts. Default false. */
  readonly fromArtifactTool?: boolean | undefined;
  /** Whether the prompt has the artifacts instead of their handles. Default false. */
  readonly inline?: boolean | undefined;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
  readonly completedAt: Timestamp;
  /** Fields of the application's own, by name: JSON-like values. They are stored with it; no model gets them. */
  readonly metadata?: Metadata | undefined;
}

let owns: (value: object) => boolean;

/** A completed tool call with its results. Immutable. */
export class ToolCall {
  static {
    owns = (value) => #createdAt in value;
  }

  /** Unique in its store. */
  readonly id: string;
  /** Name of the tool. */
  readonly tool: string;
  /** The arguments, deeply frozen. */
  readonly args: Readonly<Record<string, unknown>>;
  /** SHA-256 of tool and arguments: what `toolCallCount` counts. */
  readonly checksum: string;
  /** The execution that gave the results. */
  readonly executionId: string | undefined;
  /** The provider's id of the call. */
  readonly providerCallId: string | undefined;
  readonly isComplete: boolean;
  readonly isError: boolean;
  /** The call's results; lists are frozen. */
  readonly results: ToolCallResults;
  /** Data that a provider wants back unchanged, deeply frozen. */
  readonly payload: unknown;
  /** Names the wire format of the payload. */
  readonly replayCompatibility: string | undefined;
  /** Whether the results come from a tool that reads artifacts. */
  readonly fromArtifactTool: boolean;
  /** Whether the prompt has the artifacts instead of their handles. */
  readonly inline: boolean;
  /** Fields of the application's own, by name, deeply frozen; undefined for none. */
  readonly metadata: Metadata | undefined;
  readonly #createdAt: number;
  readonly #updatedAt: number;
  readonly #completedAt: number;

  /** @throws TurncoreError E_INVALID_INITIAL_TOOL_CALL_VALUE listing every violation */
  constructor(raw: RawToolCall) {
    const values = valuesOf(toolCallRules, raw, classes);
    this.id = values.id;
    this.tool = values.tool;
    this.args = values.args;
    this.checksum = values.checksum;
    this.executionId = values.executionId;
    this.providerCallId = values.providerCallId;
    this.isComplete = values.isComplete;
    this.isError = values.isError;
    this.results = values.results;
    this.payload = values.payload;
    this.replayCompatibility = values.replayCompatibility;
    this.fromArtifactTool = values.fromArtifactTool;
    this.inline = values.inline;
    this.metadata = values.metadata as Metadata | undefined;
    this.#createdAt = values.createdAt;
    this.#updatedAt = values.updatedAt;
    this.#completedAt = values.completedAt;
    Object.freeze(this);
  }

  /** When it was created. */
  get createdAt(): Date {
    return new Date(this.#createdAt);
  }

  /** When it was last changed. */
  get updatedAt(): Date {
    return new Date(this.#updatedAt);
  }

  /** When it ended. */
  get completedAt(): Date {
    return new Date(this.#completedAt);
  }

  /** Its fields as plain data, times in ISO 8601. */
  toJSON(): Record<string, unknown> {
    return {
      id: this.id,
      tool: this.tool,
      args: this.args,
      checksum: this.checksum,
      executionId: this.executionId,
      providerCallId: this.providerCallId,
      isComplete: this.isComplete,
      isError: this.isError,
      results: plainResults(this.results),
      payload: this.payload,
      replayCompatibility: this.replayCompatibility,
      fromArtifactTool: this.fromArtifactTool,
      inline: this.inline,
      createdAt: this.createdAt.toISOString(),
      updatedAt: this.updatedAt.toISOString(),
      completedAt: this.completedAt.toISOString(),
      metadata: this.metadata,
    };
  }

  /** @internal */
  [encodeBody](enc: Encoder): void {
    writeToolCall(enc, {
      id: this.id,
      tool: this.tool,
      args: (e) => e.value(this.args, 'args'),
      checksum: this.checksum,
      executionId: this.executionId ?? null,
      providerCallId: this.providerCallId ?? null,
      isComplete: this.isComplete,
      isError: this.isError,
      results: (e) => encodeResults(e, this.results),
      payload: (e) => e.value(this.payload, 'payload'),
      replayCompatibility: this.replayCompatibility ?? null,
      fromArtifactTool: this.fromArtifactTool,
      inline: this.inline,
      createdAt: this.#createdAt,
      updatedAt: this.#updatedAt,
      completedAt: this.#completedAt,
    });
  }
}

/** Recognizes a ToolCall. A Proxy of one does not count: it lacks the private fields. */
export function isToolCall(value: unknown): value is ToolCall {
  return value instanceof ToolCall && owns(value);
}

/** @internal Writes results in the form of a body. */
export function encodeResults(enc: Encoder, results: ToolCallResults): void {
  if (!isList(results)) {
    results[encodeBody](enc);
    return;
  }
  enc.list<SpooledArtifact | Media>(results, encodeItem);
}

function plainResults(results: ToolCallResults): unknown {
  return isList(results) ? results.map((result) => result.toJSON()) : results.toJSON();
}

function isList(
  results: ToolCallResults,
): results is readonly SpooledArtifact[] | readonly Media[] {
  return Array.isArray(results);
}

/** The kind of field `results`: text, an artifact or a media, or a list of either of the last two. */
const toResults: Converter<ToolCallResults> = (value, report) => {
  const bulky = bulkyResults(value);
  if (bulky !== undefined) return bulky;
  return Array.isArray(value) ? invalid : toText(value, report);
};

/** Results other than text: an artifact or a media, or a list of either; undefined for everything else. */
export type BulkyResults = Exclude<ToolCallResults, Tokenizable>;

/** @internal A value as results other than text, a list as a frozen copy; undefined for everything else. */
export function bulkyResults(value: unknown): BulkyResults | undefined {
  if (!Array.isArray(value)) return isBulky(value) ? value : undefined;
  const list: unknown[] = Array.from(value); // without holes, which every() skips
  const artifacts = list.length > 0 && list.every((item) => item instanceof SpooledArtifact);
  const media = list.length > 0 && list.every((item) => item instanceof Media);
  return artifacts || media ? Object.freeze(list) : undefined;
}

function isBulky(value: unknown): value is SpooledArtifact | Media {
  return value instanceof SpooledArtifact || value instanceof Media;
}

const classes = { results: toResults, also: metadataViolations };

/**
 * What events say: contents and their parts.
 */
import { fromBase64 } from '../codec/base64.js';

/** Bytes as code gives them: they may be base64, as JSON has them. */
export type GivenBytes = Uint8Array | string;

/** A function that a model calls. */
export interface FunctionCall {
  /** Unique in the session. The module gives one to a call without. */
  readonly id?: string;
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

/** The answer to a function call. */
export interface FunctionResponse {
  /** That of the call. */
  readonly id?: string;
  readonly name: string;
  readonly response?: Readonly<Record<string, unknown>>;
}

/** Bytes within a part. */
export interface InlineData<Data = Uint8Array> {
  readonly mimeType: string;
  readonly data: Data;
}

/** A file that lies elsewhere. */
export interface FileData {
  readonly fileUri: string;
  readonly mimeType?: string;
}

/**
 * A part of a content: one of its members is there, and others are kept as they are.
 *
 * @typeParam Data what its bytes are
 */
export interface Part<Data = Uint8Array> {
  readonly text?: string;
  /** The text is a thought of the model. */
  readonly thought?: boolean;
  readonly inlineData?: InlineData<Data>;
  readonly fileData?: FileData;
  readonly functionCall?: FunctionCall;
  readonly functionResponse?: FunctionResponse;
  readonly executableCode?: Readonly<Record<string, unknown>>;
  readonly codeExecutionResult?: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

/**
 * What somebody says.
 *
 * @typeParam Data what the bytes within its parts are
 */
export interface Content<Data = Uint8Array> {
  /** `user` or `model`. Default: that of its author. */
  readonly role?: string;
  readonly parts?: readonly Part<Data>[];
}

/** Tokens that a model has read and written. */
export interface EventUsage {
  readonly promptTokens?: number;
  readonly completionTokens?: number;
  readonly totalTokens?: number;
  readonly cachedTokens?: number;
  readonly reasoningTokens?: number;
  readonly [name: string]: unknown;
}

/** What a callback gives as a content: a content, a text, or something that has a content. */
export type GivenContent =
  string | Content<GivenBytes> | { readonly content?: Content<GivenBytes> | undefined };

/** A content in place of a text, or of something that has a content. */
export function contentOf(given: GivenContent, role?: string): Content {
  if (typeof given === 'string') {
    const parts = [{ text: given }];
    return role === undefined ? { parts } : { role, parts };
  }
  if ('content' in given && given.content !== undefined) return withBytes(given.content);
  return withBytes(given as Content<GivenBytes>);
}

/** A content whose inline data are bytes. Text that is not base64 stays, and the module refuses it. */
export function withBytes(content: Content<GivenBytes>): Content;
export function withBytes(content: Content<GivenBytes> | undefined): Content | undefined;
export function withBytes(content: Content<GivenBytes> | undefined): Content | undefined {
  const parts: unknown = content?.parts;
  if (!Array.isArray(parts) || !parts.some(isBase64)) return content as Content;
  return { ...content, parts: parts.map(bytesOf) };
}

/** Whether the bytes of a part are a text. */
function isBase64(part: Part<GivenBytes> | null | undefined): boolean {
  return typeof part?.inlineData?.data === 'string';
}

function bytesOf(part: Part<GivenBytes>): Part {
  if (!isBase64(part)) return part as Part;
  const { mimeType, data, ...others } = part.inlineData as InlineData<string>;
  const bytes = (fromBase64(data) ?? data) as Uint8Array;
  return { ...part, inlineData: { mimeType, data: bytes, ...others } };
}

/** The text of a content, without its thoughts. */
export function textOf(content: Content | undefined): string {
  let text = '';
  for (const part of content?.parts ?? []) {
    if (typeof part.text === 'string' && part.thought !== true) text += part.text;
  }
  return text;
}

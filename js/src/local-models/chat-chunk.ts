/**
 * Chunks of chat completions, which several engines produce.
 */
import type { ModelPart, ModelUsage } from '../chat/model-engine.js';

/** The used part of a chunk. */
export interface ChatChunk {
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null | undefined;
      readonly reasoning_content?: string | null | undefined;
      readonly tool_calls?:
        | readonly {
            readonly index?: number | undefined;
            readonly id?: string | undefined;
            readonly function?: {
              readonly name?: string | undefined;
              readonly arguments?: string | undefined;
            };
          }[]
        | null
        | undefined;
    };
    readonly finish_reason?: string | null | undefined;
  }[];
  readonly usage?: {
    readonly prompt_tokens?: number | undefined;
    readonly completion_tokens?: number | undefined;
    readonly total_tokens?: number | undefined;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number | undefined } | undefined;
  } | null;
}

/** The parts of an answer in a chunk. */
export function* partsOfChunk(chunk: ChatChunk): Generator<ModelPart> {
  const choice = chunk.choices?.[0];
  const { content, reasoning_content: reasoning, tool_calls: calls } = choice?.delta ?? {};
  if (isText(reasoning)) yield { reasoning };
  if (isText(content)) yield { text: content };
  for (const { index, id, function: fn } of calls ?? []) {
    yield { toolCall: { index, id, name: fn?.name, arguments: fn?.arguments } };
  }
  if (isText(choice?.finish_reason)) yield { finish: choice.finish_reason };
  if (chunk.usage != null) yield { usage: usageOf(chunk.usage) };
}

function usageOf(usage: NonNullable<ChatChunk['usage']>): ModelUsage {
  return {
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
    totalTokens: usage.total_tokens,
    cachedTokens: usage.prompt_tokens_details?.cached_tokens,
  };
}

function isText(value: string | null | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

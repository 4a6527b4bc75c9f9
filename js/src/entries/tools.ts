/**
 * Types of tools: what their constructor takes, standard schemas, and arguments of the built-in ones.
 *
 * @packageDocumentation
 */
export type {
  AnyTool,
  ArtifactText,
  CallOptions,
  CollisionPolicy,
  ObjectSchema,
  RawTool,
  ToolCaller,
  ToolDescription,
  ToolHandler,
} from '../tools/tool.js';
export type {
  IssueStep,
  JSONSchemaOptions,
  SchemaIssue,
  SchemaResult,
  StandardSchema,
} from '../tools/standard-schema.js';
export type { FetchArgs, FetchMethod, FetchOptions, FoundLine } from '../tools/catalogue.js';
export type { AckSource, MergeOptions } from '../tools/tool-registry.js';

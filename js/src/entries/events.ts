/**
 * The events of turns, by their classes, and how listeners and gates see them. A program that reads `event.event` needs
 * none of these names.
 *
 * @packageDocumentation
 */
export type { Listener } from '../events/bus.js';
export type {
  DiscardedWrite,
  DispatchEndEvent,
  DispatchStartEvent,
  DispatchStatus,
  ErrorEvent,
  EventHead,
  EventName,
  FunctionalEvents,
  GateResult,
  GenerationStats,
  GenerationStatsEvent,
  IterationEndEvent,
  IterationStartEvent,
  IterationStatus,
  LogEvent,
  LogLevel,
  MessageEvent,
  ModelCallEndEvent,
  ModelCallStartEvent,
  ObservabilityEvents,
  ReportedError,
  ResolveOptions,
  ThoughtEvent,
  TokenUsage,
  ToolCallEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  TurnEndEvent,
  TurnEvents,
  TurnGateClosedEvent,
  TurnStartEvent,
  TurnStatus,
  WarningEvent,
} from '../events/events.js';

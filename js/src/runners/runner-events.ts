/**
 * What runners tell of their turns.
 */
import { Bus, type Listener } from '../events/bus.js';
import type {
  FunctionalEvents,
  ObservabilityEvents,
  TurnEvents,
  TurnGate,
} from '../events/events.js';
import { GateBook } from '../events/gate-book.js';
import { requireFunctional, requireObservability } from '../events/names.js';

/**
 * The listeners and the open gates of a runner, wherever its turns run.
 *
 * There are two buses with the same API: functional events (`on`) are the product's behaviour, observability events
 * (`observe`) are for monitoring. Listeners run before the call that caused the event returns; their errors are
 * reported as an `error` event with E_LISTENER_ERROR.
 */
export abstract class RunnerEvents<Gate extends TurnGate = TurnGate> {
  /** @internal */
  protected readonly bus = new Bus<TurnEvents>();
  /** @internal */
  protected readonly openGates = new GateBook<Gate>();

  /** Adds a listener of functional events. @returns this runner */
  on<N extends keyof FunctionalEvents>(name: N, listener: Listener<FunctionalEvents[N]>): this {
    requireFunctional(name);
    this.bus.add(name, listener);
    return this;
  }

  /** Removes a listener of functional events. @returns this runner */
  off<N extends keyof FunctionalEvents>(name: N, listener: Listener<FunctionalEvents[N]>): this {
    requireFunctional(name);
    this.bus.remove(name, listener);
    return this;
  }

  /** Adds a listener of the next functional event of a name. @returns this runner */
  once<N extends keyof FunctionalEvents>(name: N, listener: Listener<FunctionalEvents[N]>): this {
    requireFunctional(name);
    this.bus.add(name, listener, true);
    return this;
  }

  /** Adds a listener of observability events. @returns this runner */
  observe<N extends keyof ObservabilityEvents>(
    name: N,
    listener: Listener<ObservabilityEvents[N]>,
  ): this {
    requireObservability(name);
    this.bus.add(name, listener);
    return this;
  }

  /** Removes a listener of observability events. @returns this runner */
  unobserve<N extends keyof ObservabilityEvents>(
    name: N,
    listener: Listener<ObservabilityEvents[N]>,
  ): this {
    requireObservability(name);
    this.bus.remove(name, listener);
    return this;
  }

  /** Adds a listener of the next observability event of a name. @returns this runner */
  observeOnce<N extends keyof ObservabilityEvents>(
    name: N,
    listener: Listener<ObservabilityEvents[N]>,
  ): this {
    requireObservability(name);
    this.bus.add(name, listener, true);
    return this;
  }

  /**
   * The open gate with an id, for outside code to settle: a button, an HTTP handler.
   *
   * @param turnId the gate's turn. Default: any turn
   * @returns undefined if there is no such gate, or several: a guess could approve the wrong one, so pass `turnId`
   */
  gate(id: string, turnId?: string): Gate | undefined {
    return this.openGates.find(id, turnId);
  }

  /** The open gates of all turns, in the order in which they were opened. */
  gates(): Gate[] {
    return this.openGates.list();
  }
}

/**
 * The setup of turns and standalone dispatches.
 */
import type { Entry } from '../collections/kinds.js';
import type { Bus } from '../events/bus.js';
import type { TurnEvent, TurnEvents } from '../events/events.js';
import type { Tokenizable } from '../primitives/tokenizable.js';
import type { Root } from '../stash/stash.js';
import type { GateBook } from '../events/gate-book.js';
import type { HttpSettings } from '../http/exchange.js';
import type { Definition } from './definition.js';

/** The setup of a turn. */
export interface TurnSetup {
  readonly definition: Definition;
  /** The settings of its requests. */
  readonly http: HttpSettings;
  /** The turn's id as users see it. */
  readonly id: string;
  /** A dispatch without a turn. */
  readonly standalone: boolean;
  readonly systemPrompt: Tokenizable;
  readonly instructions: readonly Tokenizable[];
  readonly stash: Root;
  /** Records to begin with, by collection; standalone only. */
  readonly initial: readonly (readonly Entry[])[];
  /** Hooks and observers; standalone only. */
  readonly dispatchBus: Bus<TurnEvents> | undefined;
  /** The runner's two buses, whose events' names differ. */
  readonly bus: Bus<TurnEvents> | undefined;
  /** Gets every event that the buses get. */
  readonly tap: ((event: TurnEvent) => void) | undefined;
  readonly controller: AbortController | undefined;
  /** Lists open gates for code outside of the turn. */
  readonly gates: GateBook | undefined;
  /** Replaces gates; standalone only. */
  readonly waitFor: ((raw: unknown) => unknown) | undefined;
}

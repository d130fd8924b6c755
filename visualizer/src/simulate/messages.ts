/** The question of the simulation, and its answer. */
import type { EventObject, StateValue } from 'xstate';
import type { Difference } from '../state/difference.js';

/** The copy of a connection at a moment. */
export interface SimulationStart {
  readonly state: StateValue;
  readonly context: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. Time stands still in a simulation. */
  readonly at: number;
}

/** What the person lets happen: an event; or a transition, if the chart alone is simulated. */
export type Try = { readonly event: EventObject } | { readonly transition: string };

export interface SimulationAsk {
  readonly start: SimulationStart;
  /** What was tried so far, in order. */
  readonly tries: readonly Try[];
}

/** What the person simulates. */
export interface Simulation extends SimulationAsk {
  /** The lane of the connection. */
  readonly lane: string;
  /** Number of the entry after which it starts. */
  readonly seq: number;
}

/** One thing that can be tried now. */
export interface Choice {
  readonly try: Try;
  readonly kind: ChoiceKind;
  /** Type of the event. */
  readonly event: string;
  /** The data that makes a difference; empty if there is none. */
  readonly data: string;
  /** Names of the guards that say yes, or, if the chart alone is simulated, of those that would be asked. */
  readonly guards: readonly string[];
  /** The state after it. */
  readonly leadsTo: StateValue;
}

export const CHOICE_KINDS = ['command', 'effect', 'timer', 'fact'] as const;
export type ChoiceKind = (typeof CHOICE_KINDS)[number];

export interface SimulatedStep {
  /** Type of the event. */
  readonly event: string;
  readonly data: string;
  /** The state after it. */
  readonly state: StateValue;
  readonly changes: readonly Difference[];
  /** Effects that would start, and those that would be over. */
  readonly starts: readonly string[];
  readonly ends: readonly string[];
  /** Timers that would be set, with their milliseconds. */
  readonly timers: readonly string[];
  /** Types of the events that the host would get. */
  readonly emits: readonly string[];
}

export interface SimulationView {
  /** Without guards, actions and context: the log was recorded with another chart. */
  readonly isBare: boolean;
  readonly steps: readonly SimulatedStep[];
  readonly state: StateValue;
  readonly isOver: boolean;
  /** The effects that would be running. */
  readonly running: readonly string[];
  readonly choices: readonly Choice[];
  /** Events for which the state has a transition, but every guard says no. */
  readonly guarded: readonly { readonly event: string; readonly guards: readonly string[] }[];
}

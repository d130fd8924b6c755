/**
 * An agent loop of a real framework or client whose model is a script, so that one suite holds for every adapter. What it
 * gives is read from what the model got, not from what the adapter said.
 */
import type { AnswerOptions } from '../../../src/adapters/tool-answer.js';
import type { ToolSource } from '../../../src/adapters/tool-source.js';

/** One tool call of the model. */
export interface ScriptedCall {
  readonly name: string;
  readonly args?: unknown;
}

/** What the model does at one step; the world may be changed meanwhile. The last step is always an empty one. */
export type ScriptedStep = () => readonly ScriptedCall[] | Promise<readonly ScriptedCall[]>;

export interface OfferedTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: unknown;
}

/** What the model is told of one of its calls. */
export interface ToldAnswer {
  readonly text: string;
  /** Undefined where the provider has no word for it. */
  readonly isError: boolean | undefined;
  /** Media types of the data that it gets. */
  readonly media: readonly string[];
}

/** What the model saw when it was asked. */
export interface SeenStep {
  readonly offered: readonly OfferedTool[];
  /** The answers to its calls of the step before, in their order. */
  readonly told: readonly ToldAnswer[];
}

export interface RunOptions extends AnswerOptions {
  readonly signal?: AbortSignal;
}

export interface ScriptedAgent {
  readonly name: string;
  /** Whether an image of a result is handed to the model. */
  readonly showsImages: boolean;
  /** Whether the provider has a word for an answer that is an error. */
  readonly marksErrors: boolean;
  /** Rejects where the loop does. */
  run(source: ToolSource, steps: readonly ScriptedStep[], options?: RunOptions): Promise<readonly SeenStep[]>;
}

/** `data:image/png;base64,…` → `image/png`. */
export function typeOfDataUrl(url: string): string {
  return /^data:([^;]+);base64,/.exec(url)?.[1] ?? 'none';
}

/** Ends what it is called with where the answer of a script would come too late. */
export function stepAt(steps: readonly ScriptedStep[], index: number): ScriptedStep {
  return steps[index] ?? (() => []);
}

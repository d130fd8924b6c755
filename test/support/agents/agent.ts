/**
 * The agent loop of a real framework or client with a scripted model, so that one suite covers every adapter. Its
 * results show what the model received, not what the adapter returned.
 */
import type { AnswerOptions } from '../../../src/adapters/tool-answer.js';
import type { OfferOptions } from '../../../src/search/offer.js';
import type { ToolSource } from '../../../src/adapters/tool-source.js';

/** One tool call of the model. */
export interface ScriptedCall {
  readonly name: string;
  readonly args?: unknown;
}

/** What the model does in one step; a test may change its servers meanwhile. The last step is always empty. */
export type ScriptedStep = () => readonly ScriptedCall[] | Promise<readonly ScriptedCall[]>;

export interface OfferedTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: unknown;
}

/** What the model receives for one of its calls. */
export interface ReceivedAnswer {
  readonly text: string;
  /** Undefined if the provider cannot mark errors. */
  readonly isError: boolean | undefined;
  /** Media types of the attached data. */
  readonly media: readonly string[];
}

/** What the model received in one step. */
export interface SeenStep {
  readonly offered: readonly OfferedTool[];
  /** The answers to its calls of the previous step, in order. */
  readonly answers: readonly ReceivedAnswer[];
}

export interface RunOptions extends AnswerOptions {
  readonly signal?: AbortSignal;
  /** Searched by Troupe if the adapter has the choice. */
  readonly offer?: OfferOptions;
}

export interface ScriptedAgent {
  readonly name: string;
  /** Whether the model receives the images of a result. */
  readonly showsImages: boolean;
  /** Whether the provider can mark an answer as an error. */
  readonly marksErrors: boolean;
  /** Rejects if the loop does. */
  run(source: ToolSource, steps: readonly ScriptedStep[], options?: RunOptions): Promise<readonly SeenStep[]>;
}

/** `data:image/png;base64,…` → `image/png`. */
export function typeOfDataUrl(url: string): string {
  return /^data:([^;]+);base64,/.exec(url)?.[1] ?? 'none';
}

/** The step at an index. A loop that goes on past its script gets an empty step, which ends it. */
export function stepAt(steps: readonly ScriptedStep[], index: number): ScriptedStep {
  return steps[index] ?? (() => []);
}

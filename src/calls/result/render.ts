/**
 * What a model should see of a result: its text, scanned, limited and wrapped, and its data.
 *
 * V1. The order is fixed: take apart, scan the whole, limit with the whole spilled, wrap.
 * V2. What the scan finds is told and changes nothing. Where the name of the boundary occurs, that name alone is replaced,
 *     and half a character, for which a provider refuses a whole conversation, becomes U+FFFD.
 * V3. The result is read and never changed, and what is odd about it never makes rendering fail.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { cutText } from '../../cut-text.js';
import { wrapInBoundary } from './boundary.js';
import { inTurns } from './in-turns.js';
import { scanForInjection, type InjectionSignal } from './injection-signals.js';
import { checkLimit, DEFAULT_LIMIT, limitText } from './limit.js';
import { processFolder, type SpillPort } from './spill.js';
import { takeApart, type MediaBlock } from './take-apart.js';

export interface RenderOptions {
  /** Name of the server. A `CatalogTool` has this field and the next. */
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** Most characters within the boundary, the notice about what is left out included: 1,000 to 1,000,000. Default 50,000. */
  readonly limit?: number;
  /**
   * Where the whole goes when it is over the limit: true for a private file that is removed when the process exits, false
   * for nowhere. Default true.
   */
  readonly spill?: boolean | SpillPort;
  /** False leaves the boundary out, for a text that no model reads. Default true. */
  readonly wrap?: boolean;
  /** Hears what is odd about the result. What it throws is ignored. */
  readonly onDiagnostic?: (diagnostic: ResultDiagnostic) => void;
}

/** Something odd about a result, which changed nothing. */
export interface ResultDiagnostic {
  readonly kind: 'injection-signals' | 'spill-failed';
  readonly server: string;
  readonly tool: string;
  readonly message: string;
  /** Empty for `spill-failed`. */
  readonly signals: readonly InjectionSignal[];
}

export interface RenderedResult {
  /** What the model reads. */
  readonly text: string;
  /** Images, audio and files, in the order of the result. They hold no text of the server's. */
  readonly blocks: readonly MediaBlock[];
  /** The tool says that it failed; its text says why. */
  readonly isError: boolean;
  /** Signs of injection in the whole text; empty where there are none. */
  readonly signals: readonly InjectionSignal[];
  /** The file that holds the whole text, where it was over the limit. */
  readonly spilledTo?: string;
}

/** See the function of that name in `results.ts`. */
export async function renderResult(result: CallToolResult, options: RenderOptions): Promise<RenderedResult> {
  checkOptions(result, options);
  const { text: said, blocks } = await inTurns(takeApart(result));
  const text = said.toWellFormed();
  const signals = await inTurns(scanForInjection(text));
  if (signals.length > 0) tell(options, 'injection-signals', signsIn(options, signals), signals);
  const { shown, spilledTo } = await shorten(text, options);
  return {
    text: options.wrap === false ? shown : wrapInBoundary(shown, options),
    blocks,
    isError: result.isError === true,
    signals,
    ...(spilledTo !== undefined && { spilledTo }),
  };
}

async function shorten(text: string, options: RenderOptions): Promise<{ shown: string; spilledTo?: string }> {
  const { limit = DEFAULT_LIMIT, spill = true } = options;
  if (text.length <= limit) return { shown: text };
  const { spilledTo, whereabouts } = await spillWhole(text, spill, options);
  const notice = (leftOut: number): string =>
    `\n\n[${count(leftOut)} of ${count(text.length)} characters are left out here. ${whereabouts}]\n\n`;
  return { shown: limitText(text, limit, notice), ...(spilledTo !== undefined && { spilledTo }) };
}

async function spillWhole(
  text: string,
  spill: boolean | SpillPort,
  options: RenderOptions,
): Promise<{ spilledTo?: string; whereabouts: string }> {
  if (spill === false) return { whereabouts: 'They were not kept.' };
  try {
    const spilledTo = await (spill === true ? processFolder() : spill).write(text);
    return { spilledTo, whereabouts: `The whole text is in the file ${spilledTo}` };
  } catch (error) {
    const why = `The whole text could not be written to a file (${reasonOf(error)}).`;
    tell(options, 'spill-failed', `${nameOf(options)}: ${why}`);
    return { whereabouts: why };
  }
}

/** Without the path that the message of a file system's error holds. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason was given';
  return (error as NodeJS.ErrnoException).code ?? error.message;
}

function tell(
  { server, tool, onDiagnostic }: RenderOptions,
  kind: ResultDiagnostic['kind'],
  message: string,
  signals: readonly InjectionSignal[] = [],
): void {
  const heard = async (): Promise<void> => onDiagnostic?.({ kind, server, tool, message, signals });
  heard().catch(() => {});
}

function signsIn(options: RenderOptions, signals: readonly InjectionSignal[]): string {
  const signs = signals.map(({ name, count: times }) => `${name} (${times})`).join(', ');
  return `${nameOf(options)} holds signs of an injection: ${signs}.`;
}

function nameOf({ server, tool }: RenderOptions): string {
  return `The result of '${cutText(tool, 100)}' of '${cutText(server, 100)}'`;
}

function count(characters: number): string {
  return characters.toLocaleString('en-US');
}

function checkOptions(result: unknown, { server, tool, limit }: RenderOptions): void {
  if (typeof result !== 'object' || result === null)
    throw new TypeError('The result of a call is an object.');
  if (typeof server !== 'string' || typeof tool !== 'string') {
    throw new TypeError("'server' and 'tool' must be the names that the result came from.");
  }
  checkLimit(limit);
}

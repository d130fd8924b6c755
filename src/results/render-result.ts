/**
 * `src/results` turns tool results into what a model reads. This file renders one result: its text, scanned, limited
 * and wrapped, and its data.
 *
 * V1. The order is fixed: split, scan the whole text, limit it after writing the whole to a file, wrap.
 * V2. Findings of the scan are reported and change nothing. Only the name of the boundary is replaced, and a lone
 *     surrogate, for which a provider refuses a whole conversation, becomes U+FFFD.
 * V3. The result is never changed, and an oddity in it never makes rendering fail.
 */
import type { CallToolResult } from '../mcp/server-offers.js';
import { cutText } from '../text/visible-text.js';
import { scanForInjection, type InjectionSignal } from './injection-signals.js';
import { checkLimit, DEFAULT_LIMIT, limitText, splitContent, type MediaBlock } from './split-content.js';
import { processFolder, type SpillPort } from './spill-folder.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';
import { BOUNDARY_NAME, hideBoundaryName } from './boundary-name.js';
import { setImmediate as turn } from 'node:timers/promises';
import { reasonOf } from '../text/error-message.js';
import { digitGroups } from '../text/digit-groups.js';

/** Options of `renderResult`. */
export interface RenderOptions {
  /** Name of the server. A `CatalogTool` has this field and the next. */
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /**
   * Maximum number of characters within the boundary, including the notice about omitted text: 1,000 to
   * 1,000,000. Default 50,000.
   */
  readonly maxCharacters?: number;
  /**
   * Where to write a text over the limit: true for a private file that is removed when the process exits,
   * false for nowhere. Default true.
   */
  readonly spill?: boolean | SpillPort;
  /** False leaves the boundary out, for a text that is not for a model. Default true. */
  readonly wrap?: boolean;
  /** Called for each oddity in the result. Its errors are ignored. */
  readonly onDiagnostic?: (diagnostic: ResultDiagnostic) => void;
}

/** Something odd about a result, which changed nothing. */
export interface ResultDiagnostic {
  /** Which oddity it is. */
  readonly kind: 'injection-signals' | 'spill-failed';
  /** Name of the server. */
  readonly server: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  /** What is odd, in one sentence for people. */
  readonly message: string;
  /** Empty for `spill-failed`. */
  readonly signals: readonly InjectionSignal[];
}

/** A tool result in the form that a model reads. */
export interface RenderedResult {
  /** What the model reads. */
  readonly text: string;
  /** Images, audio and files, in the order of the result. They hold no text of the server. */
  readonly blocks: readonly MediaBlock[];
  /** The tool says that it failed; its text says why. */
  readonly isError: boolean;
  /** Signs of injection in the whole text; empty if there are none. */
  readonly signals: readonly InjectionSignal[];
  /** The file with the whole text. Absent if the text is within the limit. */
  readonly spilledTo?: string;
}

/** See the function of that name in `results.ts`. */
export async function renderResult(result: CallToolResult, options: RenderOptions): Promise<RenderedResult> {
  checkOptions(result, options);
  const { text: raw, blocks } = await runInSlices(splitContent(result));
  const text = raw.toWellFormed();
  const signals = await runInSlices(scanForInjection(text));
  if (signals.length > 0) notice(options, 'injection-signals', signsIn(options, signals), signals);
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
  const { maxCharacters = DEFAULT_LIMIT, spill = true } = options;
  if (text.length <= maxCharacters) return { shown: text };
  const { spilledTo, whereabouts } = await spillWhole(text, spill, options);
  const notice = (leftOut: number): string =>
    `\n\n[${digitGroups(leftOut)} of ${digitGroups(text.length)} characters are left out here. ${whereabouts}]\n\n`;
  return { shown: limitText(text, maxCharacters, notice), ...(spilledTo !== undefined && { spilledTo }) };
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
    notice(options, 'spill-failed', `${nameOf(options)}: ${why}`);
    return { whereabouts: why };
  }
}

function notice(
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

const NAMES: OptionNames<RenderOptions> = {
  server: true,
  tool: true,
  maxCharacters: true,
  spill: true,
  wrap: true,
  onDiagnostic: true,
};

function checkOptions(result: unknown, options: RenderOptions): void {
  requireKnown('renderResult', options, NAMES);
  const { server, tool, maxCharacters } = options;
  if (typeof result !== 'object' || result === null)
    throw new TypeError('The result of a call must be an object.');
  if (typeof server !== 'string' || typeof tool !== 'string') {
    throw new TypeError("'server' and 'tool' must be the names that the result came from.");
  }
  checkLimit(maxCharacters);
}

/** Longest name of a server or tool in the boundary, which shows a model where the output of a tool begins and ends. */
const MAX_NAME = 128;

/** Wraps a text so that nothing in it can close the boundary or open another one. */
export function wrapInBoundary(text: string, { server, tool }: { server: string; tool: string }): string {
  const attributes = `server="${cleanName(server)}" tool="${cleanName(tool)}" trust="untrusted"`;
  return `<${BOUNDARY_NAME} ${attributes}>\n${hideBoundaryName(text)}\n</${BOUNDARY_NAME}>`;
}

/** A name with only `[a-zA-Z0-9._-]`, never empty. */
function cleanName(name: string): string {
  return name.slice(0, MAX_NAME).replace(/[^a-zA-Z0-9._-]/g, '_') || '_';
}

/** Runs long work in slices: the event loop continues wherever the work yields, so that no result blocks the host. */
async function runInSlices<T>(work: Generator<undefined, T, undefined>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await turn();
  }
}

/** `troupe review`: shows the tools that differ from what was accepted, and accepts them. */
import { ToolHeldError, UnknownToolError } from '../../errors.js';
import type { HeldTool } from '../../review/held-tool.js';
import type { Troupe } from '../../runtime/troupe.js';
import { askForInputs } from '../prompts/ask-for-inputs.js';
import { asking, canAsk } from '../prompts/ask.js';
import {
  readConfiguration,
  requireEnabled,
  requireFound,
  type Configuration,
} from '../configured-servers.js';
import { countOf } from '../output/duration.js';
import { EXIT, type ExitCode, UsageError } from '../exit.js';
import type { Flags } from '../arguments/flags.js';
import { makeTroupe, withTroupe } from '../make-troupe.js';
import { showingProgress } from '../output/progress.js';
import { nameOf, oneLine, type Terminal, type Colors } from '../output/terminal.js';
import { visibleText } from '../../text/visible-text.js';
import { noteFailures, noteWarnings } from '../output/server-notes.js';
import { candidateServers, findTool, noServerFor, noSuchTool } from '../arguments/tool-target.js';
import { wakeDormant } from '../with-servers.js';
import type { ReviewedField, ReviewedTool } from '../../../machines/policy/review.js';

export interface ReviewFlags extends Flags {
  /** Accept the tools that are shown. */
  readonly accept?: boolean;
  /** Accept without a question. */
  readonly yes?: boolean;
}

export interface ReviewRequest {
  /** Names for the model, or `server/tool`. An empty list means all. */
  readonly tools: readonly string[];
  readonly stdin: NodeJS.ReadableStream;
}

/**
 * `EXIT.failed` if a server is not ready, a person says no, a tool changes meanwhile, an acceptance cannot be stored,
 * or a tool that is only shown could not be compared with what was accepted.
 */
export async function review(
  flags: ReviewFlags,
  terminal: Terminal,
  { tools, stdin }: ReviewRequest,
): Promise<ExitCode> {
  if (flags.yes === true && flags.accept !== true) throw new UsageError('--yes requires --accept');
  const configuration = await readConfiguration(flags);
  const asked = serversFor(tools, configuration);
  noteWarnings(configuration.warnings, asked, terminal);
  const askInput = await askForInputs(flags, asked, terminal, stdin);
  const choice = { maxAttempts: 1, only: asked, askInput, review: 'hold-changes' } as const;
  const troupe = makeTroupe(flags, configuration, terminal, choice);
  let isTroubled = false;
  troupe.diagnostics$.subscribe((event) => {
    if (event.kind === 'review-problem') isTroubled = true;
  });
  return withTroupe(troupe, terminal, async (signal) => {
    await showingProgress(terminal, troupe, async () => {
      await troupe.settled({ signal });
      await wakeDormant(troupe, signal);
      await troupe.review.idle();
    });
    await requireFound(troupe, asked, signal);
    const isUnready = noteFailures(troupe.status, asked, terminal);
    const held = chosen(tools, asked, troupe);
    show(held, flags, terminal);
    const accepted =
      flags.accept === true ? await accept(held, troupe, flags, terminal, { stdin, signal }) : [];
    printReview({ held, accepted, isUnready }, flags, terminal);
    const isDone = flags.accept === true ? accepted.length === held.length : !isTroubled;
    return isDone && !isUnready ? EXIT.fine : EXIT.failed;
  });
}

function serversFor(tools: readonly string[], configuration: Configuration): readonly string[] {
  const { names } = configuration;
  const candidates = tools.map((tool) => {
    const servers = candidateServers(tool, names);
    if (servers.length === 0) throw new UsageError(noServerFor(tool, names));
    return servers;
  });
  return requireEnabled(configuration, tools.length === 0 ? names : [...new Set(candidates.flat())]);
}

/** The chosen ones of the held tools. Throws for a tool that a model already sees. */
function chosen(tools: readonly string[], servers: readonly string[], troupe: Troupe): readonly HeldTool[] {
  const { held } = troupe.review;
  if (tools.length === 0) return held;
  return tools.flatMap((wanted) => {
    const found = held.find(({ name, server, tool }) => wanted === name || wanted === `${server}/${tool}`);
    if (found === undefined && findTool(wanted, troupe.tools) === undefined) {
      throw new UsageError(noSuchTool(wanted, servers, troupe.tools));
    }
    return found ?? [];
  });
}

/** On stderr if stdout is for a program, or if a question follows. */
function show(held: readonly HeldTool[], flags: ReviewFlags, terminal: Terminal): void {
  for (const each of held) {
    if (flags.accept === true) terminal.note(renderHeld(each, terminal.noteColors));
    else if (!flags.json) terminal.print(renderHeld(each, terminal.colors));
  }
}

/** Returns the tools that are accepted from now on, without those whose acceptance could not be stored. */
async function accept(
  held: readonly HeldTool[],
  troupe: Troupe,
  flags: ReviewFlags,
  terminal: Terminal,
  { stdin, signal }: { readonly stdin: NodeJS.ReadableStream; readonly signal: AbortSignal },
): Promise<readonly HeldTool[]> {
  if (held.length === 0) return [];
  if (flags.yes !== true && !canAsk(terminal, stdin)) {
    throw new UsageError('cannot ask without a terminal; use --yes to accept what is shown above');
  }
  const isWanted = async (confirm: (question: string) => Promise<boolean>): Promise<readonly HeldTool[]> => {
    const accepted: HeldTool[] = [];
    for (const each of held) {
      if (!(await confirm(`Accept ${nameOf(each.name)}?`))) continue;
      if (await acceptAsShown(each, troupe, terminal)) accepted.push(each);
    }
    return accepted;
  };
  if (flags.yes === true) return isWanted(async () => true);
  return asking(terminal, stdin, ({ confirm }) => isWanted(confirm), { signal });
}

/** False, with a note, if the tool is no longer as shown, or if the acceptance could not be stored. */
async function acceptAsShown(shown: HeldTool, { review }: Troupe, terminal: Terminal): Promise<boolean> {
  try {
    return await review.accept(shown);
  } catch (error) {
    if (!(error instanceof ToolHeldError || error instanceof UnknownToolError)) throw error;
    terminal.note(oneLine(error.message));
    return false;
  }
}

interface Seen {
  readonly held: readonly HeldTool[];
  readonly accepted: readonly HeldTool[];
  /** The tools of some servers could not be compared. */
  readonly isUnready: boolean;
}

function printReview({ held, accepted, isUnready }: Seen, flags: ReviewFlags, terminal: Terminal): void {
  const left = held.filter((each) => !accepted.includes(each));
  if (flags.json) {
    const names = accepted.map(({ name }) => name);
    terminal.printJson('review', { ...(flags.accept === true && { accepted: names }), held: left });
  } else if (held.length === 0)
    terminal.note(`every tool ${isUnready ? 'that could be compared ' : ''}is as it was accepted`);
  else if (flags.accept !== true) {
    terminal.note(`${countOf(left.length, 'tool')} to review; 'troupe review --accept' accepts`);
  } else for (const { name } of accepted) terminal.print(`${nameOf(name)}: accepted, until it changes`);
}

/**
 * A held tool as a person must see it before accepting it: what was accepted, and what there is now. Nothing is hidden
 * or cut, because text that is meant for a model only would hide exactly there.
 */
const WHY: Readonly<Record<HeldTool['reason'], string>> = {
  new: 'is new',
  changed: 'has changed',
  unknown: 'is held: what was accepted cannot be read',
};

function renderHeld(held: HeldTool, colors: Colors): string {
  const { server, tool, reason, fields, accepted, listed } = held;
  const title = `${colors.bold(visibleText(`${server}/${tool}`))} ${WHY[reason]}`;
  return [title, ...fields.flatMap((field) => renderField(field, accepted, listed, colors))].join('\n');
}

function renderField(
  field: ReviewedField,
  accepted: ReviewedTool | null,
  listed: ReviewedTool,
  colors: Colors,
): string[] {
  const before = linesOf(accepted?.[field]);
  const now = linesOf(listed[field]);
  const head = sameAtStart(before, now);
  const tail = sameAtStart(before.slice(head).reverse(), now.slice(head).reverse());
  const same = (lines: readonly string[]): string[] => lines.map((line) => colors.dim(`      ${line}`));
  return [
    `  ${field}`,
    ...same(now.slice(0, head)),
    ...before.slice(head, before.length - tail).map((line) => colors.red(`    - ${line}`)),
    ...now.slice(head, now.length - tail).map((line) => colors.green(`    + ${line}`)),
    ...same(now.slice(now.length - tail)),
  ];
}

function linesOf(value: unknown): readonly string[] {
  if (value === undefined) return [];
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return text.split('\n').map(visibleText);
}

/** The number of lines that two texts share at their start. */
function sameAtStart(a: readonly string[], b: readonly string[]): number {
  const parting = a.findIndex((line, index) => line !== b[index]);
  return parting === -1 ? Math.min(a.length, b.length) : parting;
}

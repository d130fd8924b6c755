/** `troupe review`: the tools that are other than what was approved, and the way to approve them. */
import { ToolHeldError, UnknownToolError } from '../../errors.js';
import type { HeldTool } from '../../review/held-tool.js';
import type { Troupe } from '../../troupe.js';
import { askForInputs } from '../ask-for-inputs.js';
import { asking, canAsk } from '../ask.js';
import { readConfiguration, requireEnabled, requireFound, type Configuration } from '../configuration.js';
import { countOf } from '../count-of.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import type { Flags } from '../flags.js';
import { makeTroupe } from '../make-troupe.js';
import { showingProgress } from '../progress.js';
import { renderHeld } from '../review-report.js';
import { oneLine } from '../safe-text.js';
import { noteFailures, noteWarnings } from '../server-notes.js';
import type { Terminal } from '../terminal.js';
import { candidateServers, findTool, noServerFor, noSuchTool } from '../tool-target.js';
import { UsageError } from '../usage-error.js';
import { withTroupe } from '../with-troupe.js';
import { wakeDormant } from './check.js';

export interface ReviewFlags extends Flags {
  /** Approve what is shown. */
  readonly approve?: boolean;
  /** Without a question. */
  readonly yes?: boolean;
}

export interface ReviewRequest {
  /** Names for the model, or `server/tool`; none means all. */
  readonly tools: readonly string[];
  readonly stdin: NodeJS.ReadableStream;
}

/**
 * `EXIT.failed` where a server is not ready, a person says no, a tool changes meanwhile, an approval cannot be kept, or
 * what is only shown could not be compared with what was approved.
 */
export async function review(
  flags: ReviewFlags,
  terminal: Terminal,
  { tools, stdin }: ReviewRequest,
): Promise<ExitCode> {
  if (flags.yes === true && flags.approve !== true) throw new UsageError('--yes goes with --approve');
  const configuration = await readConfiguration(flags);
  const asked = serversFor(tools, configuration);
  noteWarnings(configuration.warnings, asked, terminal);
  const askInput = await askForInputs(flags, asked, terminal, stdin);
  const choice = { maxAttempts: 1, only: asked, askInput, review: 'hold-changes' } as const;
  const troupe = makeTroupe(flags, configuration, terminal, choice);
  let isTroubled = false;
  troupe.diagnostics$.subscribe((event) => {
    if (event.type === 'diagnostic' && event.kind === 'review-problem') isTroubled = true;
  });
  return withTroupe(troupe, terminal, async (signal) => {
    await showingProgress(terminal, troupe, async () => {
      await troupe.settled({ signal });
      await wakeDormant(troupe, signal);
      await troupe.review.settled();
    });
    await requireFound(troupe, asked, signal);
    const isUnready = noteFailures(troupe.status, asked, terminal);
    const held = chosen(tools, asked, troupe);
    show(held, flags, terminal);
    const approved =
      flags.approve === true ? await approve(held, troupe, flags, terminal, { stdin, signal }) : [];
    tell({ held, approved, isUnready }, flags, terminal);
    const isDone = flags.approve === true ? approved.length === held.length : !isTroubled;
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

/** Those of the held tools that are meant; one that is shown to a model already is meant in vain. */
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

/** On stderr where stdout is for a program, or where a question follows. */
function show(held: readonly HeldTool[], flags: ReviewFlags, terminal: Terminal): void {
  for (const each of held) {
    if (flags.approve === true) terminal.note(renderHeld(each, terminal.noteColors));
    else if (!flags.json) terminal.print(renderHeld(each, terminal.colors));
  }
}

/** Gives what is approved from now on: what could not be kept is not. */
async function approve(
  held: readonly HeldTool[],
  troupe: Troupe,
  flags: ReviewFlags,
  terminal: Terminal,
  { stdin, signal }: { readonly stdin: NodeJS.ReadableStream; readonly signal: AbortSignal },
): Promise<readonly HeldTool[]> {
  if (held.length === 0) return [];
  if (flags.yes !== true && !canAsk(terminal, stdin)) {
    throw new UsageError('nobody can be asked without a terminal; --yes approves what is shown above');
  }
  const isWanted = async (confirm: (question: string) => Promise<boolean>): Promise<readonly HeldTool[]> => {
    const approved: HeldTool[] = [];
    for (const each of held) {
      if (!(await confirm(`Approve ${oneLine(each.name)}?`))) continue;
      if (await approveAsShown(each, troupe, terminal)) approved.push(each);
    }
    return approved;
  };
  if (flags.yes === true) return isWanted(async () => true);
  return asking(terminal, stdin, ({ confirm }) => isWanted(confirm), { signal });
}

/** False, and told, where it is not any more what was shown, or could not be kept. */
async function approveAsShown(shown: HeldTool, { review }: Troupe, terminal: Terminal): Promise<boolean> {
  try {
    return await review.approve(shown);
  } catch (error) {
    if (!(error instanceof ToolHeldError || error instanceof UnknownToolError)) throw error;
    terminal.note(oneLine(error.message));
    return false;
  }
}

interface Seen {
  readonly held: readonly HeldTool[];
  readonly approved: readonly HeldTool[];
  /** The tools of some servers could not be looked at. */
  readonly isUnready: boolean;
}

function tell({ held, approved, isUnready }: Seen, flags: ReviewFlags, terminal: Terminal): void {
  const left = held.filter((each) => !approved.includes(each));
  if (flags.json) {
    const names = approved.map(({ name }) => name);
    terminal.print(
      JSON.stringify({ ...(flags.approve === true && { approved: names }), held: left }, null, 2),
    );
  } else if (held.length === 0)
    terminal.note(`every tool ${isUnready ? 'that could be looked at ' : ''}is as it was approved`);
  else if (flags.approve !== true) {
    terminal.note(`${countOf(left.length, 'tool')} to look at; 'troupe review --approve' approves`);
  } else for (const { name } of approved) terminal.print(`${oneLine(name)}: approved, until it changes`);
}

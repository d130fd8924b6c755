/**
 * `troupe replay --follow`: replays a log while it is written, and prints every change as it happens.
 *
 * F1. It goes on over rotations and restarts of the recording process, until Ctrl-C or until nobody reads the output.
 * F2. Each recording is replayed by itself, and has its result when it ends or another one takes its place.
 */
import { access } from 'node:fs/promises';
import { readLog, type LogPiece } from '../../event-log/format/read-log.js';
import { isSameRun, runLabel } from '../../event-log/format/runs.js';
import type { LogHeader } from '../../event-log/format/entry.js';
import { LogReplay } from '../../event-log/replay/replay-log.js';
import type { ReplayAgainst } from '../../event-log/replay/replay-machines.js';
import { systemClock } from '../../ports.js';
import { loadAgainst, noteOtherCharts, reportOn, toJson, type ReplayFlags } from './replay-command.js';
import { EXIT, type ExitCode, listenForStop, UsageError } from '../exit.js';
import { renderChange, renderReplay } from '../output/replay-text.js';
import { oneLine, type Terminal } from '../output/terminal.js';
import { filesOfLog } from '../replay-files.js';

/** They need the end of a log, or another order. */
const NOT_TOGETHER = { at: '--at', svg: '--svg', exportFixture: '--export-fixture' } as const;

/** Throws a `UsageError` for several logs, for options that need the end of a log, and for what is not a file. */
export async function followReplay(
  flags: ReplayFlags,
  terminal: Terminal,
  logs: readonly string[],
): Promise<ExitCode> {
  const [log = '', ...others] = logs;
  if (others.length > 0)
    throw new UsageError("--follow follows one log; 'troupe inspect' follows several on one timeline.");
  for (const [name, flag] of Object.entries(NOT_TOGETHER))
    if (flags[name as keyof typeof NOT_TOGETHER] !== undefined)
      throw new UsageError(`${flag} cannot be used with --follow.`);
  const against = flags.against === undefined ? undefined : await loadAgainst(flags.against);
  const files = (await isThere(log)) ? await filesOfLog([log]) : [log];
  const ending = new AbortController();
  const stopListening = listenForStop(process, systemClock, () => ending.abort());
  const replays = new FollowedReplays(flags, terminal, { log, against });
  try {
    const signal = AbortSignal.any([ending.signal, terminal.gone]);
    if (!flags.json) terminal.note(oneLine(`troupe: following ${log}; Ctrl-C stops.`));
    for await (const piece of piecesOf(files, signal)) replays.take(piece);
    return replays.end();
  } finally {
    stopListening();
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** The earlier parts, and then the last file as it grows. */
async function* piecesOf(
  files: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<LogPiece, void, undefined> {
  for (const file of files.slice(0, -1)) yield* readLog(file, { signal });
  yield* readLog(files.at(-1) ?? '', { follow: true, signal });
}

class FollowedReplays {
  #replay: LogReplay | undefined;
  #header: LogHeader | undefined;
  #code: ExitCode = EXIT.fine;

  constructor(
    private readonly flags: ReplayFlags,
    private readonly terminal: Terminal,
    private readonly parts: { readonly log: string; readonly against: ReplayAgainst | undefined },
  ) {}

  take(piece: LogPiece): void {
    if (piece.type === 'header') this.#begin(piece.header);
    this.#replay?.take([piece]);
    if (piece.type === 'problem') this.#fault(piece.problem);
    else if (piece.type === 'entry' && piece.entry.kind === 'note' && piece.entry.note.type === 'end') {
      this.#finish();
      this.#note('the recording has ended; waiting for the next one.');
    }
  }

  /** The exit code: the worst of all recordings. */
  end(): ExitCode {
    this.#finish();
    return this.#code;
  }

  #begin(header: LogHeader): void {
    if (this.#header !== undefined && isSameRun(this.#header, header)) return;
    this.#finish();
    this.#header = header;
    const { against } = this.parts;
    const { server, json } = this.flags;
    this.#note(`a recording of ${runLabel(header)} begins.`);
    this.#replay = new LogReplay({
      ...(against !== undefined && { against }),
      changed: (change) => {
        if (server !== undefined && change.server !== server) return;
        if (json) this.terminal.printJson('replay', change, 'line');
        else this.terminal.print(renderChange(change, header.startedAt));
      },
    });
  }

  /** A line that was cut off is the end of a process that was killed. */
  #fault({ code, message }: { readonly code: string; readonly message: string }): void {
    this.#note(message);
    if (code !== 'truncated') this.#code = EXIT.usage;
  }

  #finish(): void {
    const [replay, header] = [this.#replay, this.#header];
    this.#replay = undefined;
    if (replay === undefined || header === undefined) return;
    const report = reportOn(replay.report(), this.flags.server);
    if (report.divergenceCount > 0 && this.#code === EXIT.fine) this.#code = EXIT.failed;
    if (report.hasOtherCharts) noteOtherCharts(header, this.terminal);
    if (this.flags.json) this.terminal.printJson('replay', toJson(report, runLabel(header)), 'line');
    else this.terminal.print(renderReplay(report, this.terminal.colors));
  }

  #note(text: string): void {
    this.terminal.note(oneLine(`troupe: ${this.parts.log}: ${text}`));
  }
}

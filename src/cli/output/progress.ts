/** Shows on stderr, if that is a terminal, what a command waits for. Erases it afterwards. */
import { hasTag } from '../../../machines/connection/connection.states.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import { systemClock, type Clock } from '../../ports.js';
import type { Progress } from '../../protocol/protocol-client.js';
import type { Troupe } from '../../runtime/troupe.js';
import { truncate } from './fit-text.js';
import { openLiveArea, RedrawSchedule } from './live-area.js';
import { oneLine, type Terminal } from './terminal.js';

/** Runs `work` and meanwhile shows which servers are not ready yet. */
export async function showingProgress<T>(
  terminal: Terminal,
  troupe: Pick<Troupe, 'status' | 'events$'>,
  work: () => Promise<T>,
  clock?: Clock,
): Promise<T> {
  const line = (): string => describeProgress(troupe.status);
  const showing = async (show: Show): Promise<T> => {
    const subscription = troupe.events$.subscribe(() => show(line));
    try {
      return await work();
    } finally {
      subscription.unsubscribe();
    }
  };
  return showingLine(terminal, showing, clock);
}

/** Runs `work` and shows the progress that it reports. */
export async function showingCallProgress<T>(
  terminal: Terminal,
  work: (onProgress: (progress: Progress) => void) => Promise<T>,
  clock?: Clock,
): Promise<T> {
  return showingLine(
    terminal,
    (show) => work((progress) => show(() => describeCallProgress(progress))),
    clock,
  );
}

/** Empty if the command waits for nothing. */
function describeProgress(statuses: readonly ServerStatus[]): string {
  const away = statuses.filter((status) => !hasTag(status, 'settled')).map(({ server }) => server);
  if (away.length === 0) return '';
  const wanted = statuses.filter(({ reason }) => reason !== 'disabled');
  const ready = wanted.filter(({ state }) => state === 'ready').length;
  return `${ready} of ${wanted.length} ready, waiting for ${away.join(', ')}`;
}

export function describeCallProgress({ progress, total, message }: Progress): string {
  const share = total === undefined ? `${progress}` : `${progress} of ${total}`;
  return message === undefined ? `progress ${share}` : `progress ${share}: ${message}`;
}

/** Runs `work` and shows its progress, a share of 1. */
export async function showingShare<T>(
  terminal: Terminal,
  what: string,
  work: (onShare: (share: number) => void) => Promise<T>,
): Promise<T> {
  return showingLine(terminal, (show) => work((share) => show(() => describeShare(what, share))));
}

const BAR = 20;

function describeShare(what: string, share: number): string {
  const full = Math.round(BAR * Math.min(1, Math.max(0, share)));
  return `${what} ${'█'.repeat(full)}${'░'.repeat(BAR - full)} ${Math.floor(100 * share)} %`;
}

/** Takes the line that is shown from now on. It is read when it is drawn. */
type Show = (line: () => string) => void;

/** Events can be much more frequent than the line is drawn, and the status of all servers has its price. */
async function showingLine<T>(
  terminal: Terminal,
  work: (show: Show) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const { stderr } = terminal;
  if (!terminal.isLive(stderr)) return work(() => {});
  let line = (): string => '';
  const area = await openLiveArea(terminal, stderr, () =>
    truncate(oneLine(line()), (stderr.columns ?? 80) - 1),
  );
  const schedule = new RedrawSchedule(clock, () => area.refresh());
  try {
    return await work((next) => {
      line = next;
      schedule.changed();
    });
  } finally {
    schedule.close();
    area.close('erase');
  }
}

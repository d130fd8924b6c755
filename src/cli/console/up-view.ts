/**
 * The output of `troupe up`: lifecycle events as JSON with `--json`, a console on a terminal, lines of text elsewhere. With
 * `--verbose`, whose details would be on the same terminal, also lines. Nothing if the log in JSON has the events.
 */
import { systemClock, type Clock } from '../../ports.js';
import type { LifecycleEvent } from '../../lifecycle/event.js';
import type { Flags, LogFormat } from '../arguments/flags.js';
import { toHeadline } from '../output/plain-lines.js';
import type { Seat, Watched } from './console.js';

export interface UpView {
  /** Call it when the troupe is closed. */
  close(): void;
}

export async function openView(
  troupe: Watched,
  flags: Pick<Flags, 'json' | 'verbose'> & { readonly logFormat?: LogFormat },
  seat: Seat,
  clock: Clock = systemClock,
): Promise<UpView> {
  const { terminal, stdin } = seat;
  if (flags.json) return showing(troupe, (event) => terminal.printJson('up', event));
  if (flags.logFormat === 'json') return { close: () => {} };
  const isForDetails = flags.verbose && terminal.stderr.isTTY === true;
  const hasKeyboard = 'isTTY' in stdin && stdin.isTTY === true;
  if (hasKeyboard && terminal.isLive(terminal.stdout) && !terminal.isOfCi && !isForDetails) {
    const { Console } = await import('./console.js');
    return new Console(troupe, seat, clock);
  }
  return showing(troupe, (event) => {
    const headline = toHeadline(event);
    if (headline !== undefined) terminal.print(headline);
  });
}

function showing({ events$ }: Watched, show: (event: LifecycleEvent) => void): UpView {
  const subscription = events$.subscribe(show);
  return { close: () => subscription.unsubscribe() };
}

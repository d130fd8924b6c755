/** The page of a running `troupe up`, where `--inspect` or `--stately` asks for it. */
import { basename } from 'node:path';
import type { Troupe } from '../troupe.js';
import type { Flags } from './flags.js';
import { showInspection } from './show-inspection.js';
import { opened } from './taken-port.js';
import type { Terminal } from './terminal.js';

export interface InspectionFlags extends Pick<Flags, 'json'> {
  /** The port of the page, or true for any. Default: there is no page. */
  readonly inspect?: number | true;
  /** Whether Stately's hosted inspector is handed what happens. Default: not. */
  readonly stately?: boolean;
}

/** Begins it and tells its addresses. The function that is given takes back what leads to it; it ends with the troupe. */
export async function openUpInspection(
  troupe: Pick<Troupe, 'inspect'>,
  { inspect, stately = false, json }: InspectionFlags,
  terminal: Terminal,
): Promise<() => Promise<void>> {
  if (inspect === undefined && !stately) return async () => {};
  const title = basename(process.cwd()) || 'troupe up';
  const port = inspect === undefined || inspect === true ? 0 : inspect;
  const { url, statelyUrl } = await opened(
    troupe.inspect({ port, title: `${title} (${process.pid})`, stately }),
  );
  terminal.note(`troupe: inspect it at ${url}`);
  if (statelyUrl !== undefined)
    terminal.note(`troupe: Stately's inspector, which is sent what happens here: ${statelyUrl}`);
  return showInspection({ title, mode: 'live', url, opens: inspect !== undefined && !json }, terminal);
}

import type { ProcessExit } from '../../../machines/policy/failure.js';
import type { RawFailure } from '../session-transport.js';
import type { EndCause } from './end-watch.js';
import { tellingLine } from './telling-line.js';

/** Most stderr lines a failure carries; the whole ring stays with the transport. */
const TAIL_LINES = 20;

/** Why a session is over, as the record that travels. Pure. */
export function endFailure(cause: EndCause, stderr: readonly string[]): RawFailure {
  const stderrTail = stderr.slice(-TAIL_LINES);
  const line = tellingLine(stderrTail);
  if (line === undefined) return described(cause);
  const isLast = line === stderrTail.findLast((each) => each.trim() !== '');
  const hint = `${isLast ? 'The last line on its stderr was' : 'On its stderr it said'}: ${line}`;
  return { ...described(cause), hint, stderrTail };
}

function described(cause: EndCause): RawFailure {
  switch (cause.kind) {
    case 'exited':
      return { code: 'process-exited', message: `The server ${howItEnded(cause.exit)}.`, exit: cause.exit };
    case 'stdout-closed':
      return { code: 'stdout-closed', message: 'The server closed its stdout but is still running.' };
    case 'stdin-broken':
      return { code: 'connection-lost', message: 'The server closed its stdin but is still running.' };
  }
}

function howItEnded({ code, signal }: ProcessExit): string {
  return signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
}

import type { ProcessExit } from '../../../machines/policy/failure.js';
import type { RawFailure } from '../session-transport.js';
import type { EndCause } from './end-watch.js';
import { tellingLine } from './telling-line.js';

/** Most stderr lines a failure carries; the whole ring stays with the transport. */
const TAIL_LINES = 20;

/**
 * Why a session is over, as the record that travels. Pure.
 *
 * @param stdout The first that a server wrote there that has sent no message.
 */
export function endFailure(cause: EndCause, stderr: readonly string[], stdout?: string): RawFailure {
  const stderrTail = stderr.slice(-TAIL_LINES);
  const line = tellingLine(stderrTail);
  if (line !== undefined) return { ...described(cause), hint: hintOf(line, stderrTail), stderrTail };
  if (stdout === undefined) return described(cause);
  return { ...described(cause), hint: `What it wrote on stdout is no message: ${stdout}` };
}

function hintOf(line: string, stderr: readonly string[]): string {
  const isLast = line === stderr.findLast((each) => each.trim() !== '');
  return `${isLast ? 'The last line on its stderr was' : 'On its stderr it said'}: ${line}`;
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

/**
 * Why a server is not ready, for a person: what happened, what to do about it, and what the server said.
 */
import type { Failure } from '../../machines/policy/failure.js';
import type { ServerStatus } from '../lifecycle/status.js';
import { manyLines, oneLine } from './safe-text.js';
import { serverCommand } from './server-command.js';
import { renderRequest } from './trust-question.js';

const LAST_LINES = 10;

/** One line: code and message. */
export function summarize(failure: Failure): string {
  return oneLine(`${failure.code}: ${failure.message}`);
}

/** Everything that is known, a line each; the first is the summary. */
export function explain(status: ServerStatus): string[] {
  const { name, substate, error, attempt, maxAttempts, authUrl, trustRequest } = status;
  if (trustRequest !== null) {
    return [
      `waits for approval; to give it: ${serverCommand('trust', name)}`,
      ...renderRequest(trustRequest),
    ];
  }
  if (error === null) return [`it is ${status.state}${substate === '' ? '' : ` (${substate})`}`];
  const signIn = substate === 'authorizing' ? serverCommand('login', name) : undefined;
  const facts: readonly (readonly [label: string, text: string | undefined])[] = [
    ['hint', error.hint],
    ['sign in', authUrl ?? signIn],
    ['exit', exitOf(error)],
    ['HTTP status', error.http === undefined ? undefined : String(error.http.status)],
    ['WWW-Authenticate', error.http?.wwwAuthenticate],
    ['body starts', untold(error)],
    ['JSON-RPC error', error.rpcCode === undefined ? undefined : String(error.rpcCode)],
    ['attempt', attempt === 0 ? undefined : `${attempt} of ${maxAttempts}`],
  ];
  return [
    summarize(error),
    ...facts.flatMap(([label, text]) => (text === undefined ? [] : [`${label}: ${oneLine(text)}`])),
    ...lastWords(status),
  ];
}

/** The start of the body, unless the message holds all of it. */
function untold({ message, http }: Failure): string | undefined {
  return message.includes(http?.bodyStart ?? '') ? undefined : http?.bodyStart;
}

function exitOf({ exit }: Failure): string | undefined {
  if (exit === undefined) return undefined;
  return exit.signal === null ? `code ${exit.code}` : `signal ${exit.signal}`;
}

function lastWords({ stderrTail }: ServerStatus): string[] {
  const last = stderrTail.slice(-LAST_LINES);
  if (last.length === 0) return [];
  const title = stderrTail.length > last.length ? `stderr (last ${last.length} lines):` : 'stderr:';
  return [title, ...last.map((line) => `  | ${manyLines(line)}`)];
}

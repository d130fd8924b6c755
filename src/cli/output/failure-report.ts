/** Why a server is not ready, for a person: what happened, what to do about it, and what the server answered. */
import type { Failure } from '../../../machines/policy/failure.js';
import { causeHint } from '../../failures/output.js';
import { hasTag } from '../../../machines/connection/connection.states.js';
import { stateInWords } from '../../lifecycle/state-in-words.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import { excerptOf } from '../../text/server-text.js';
import { manyLines, oneLine } from './terminal.js';
import { serverCommand } from '../../lifecycle/server-command.js';
import { renderRequest } from './trust-question.js';

const MAX_LINES = 20;

/** One line: code and message. */
export function summarize(failure: Failure): string {
  return oneLine(`${failure.code}: ${failure.message}`);
}

/** One line: code, message, and what to do, or else what the server itself said. */
export function summarizeWithCause(failure: Failure): string {
  return oneLine(`${summarize(failure)} ${causeOf(failure)}`);
}

/** What to do, or else what the server itself said; empty if neither is known. */
export function causeOf({ hint, stderrTail = [], stdoutTail = [] }: Failure): string {
  return hint ?? causeHint(stderrTail, stdoutTail) ?? '';
}

/** All known details, one a line; the first is the summary. */
export function explain(status: ServerStatus): string[] {
  const { server, error, attempt, maxAttempts, authUrl, trustRequest } = status;
  if (trustRequest !== null) {
    return [`needs trust; to trust it: ${serverCommand('trust', server)}`, ...renderRequest(trustRequest)];
  }
  if (error === null) return [`it is ${stateInWords(status)}`];
  const signIn = hasTag(status, 'authorizing') ? serverCommand('login', server) : undefined;
  const facts: readonly (readonly [label: string, text: string | undefined])[] = [
    ['hint', error.hint],
    ['sign in', authUrl ?? signIn],
    ['exit', exitOf(error)],
    ['HTTP status', error.http === undefined ? undefined : String(error.http.status)],
    ['WWW-Authenticate', error.http?.wwwAuthenticate],
    ['body starts', bodyStartOf(error)],
    ['JSON-RPC error', error.rpcCode === undefined ? undefined : String(error.rpcCode)],
    ['attempt', attempt === 0 ? undefined : `${attempt} of ${maxAttempts}`],
  ];
  return [
    summarize(error),
    ...facts.flatMap(([label, text]) => (text === undefined ? [] : [`${label}: ${oneLine(text)}`])),
    ...lastWords(status),
  ];
}

/** The start of the body, unless the message already contains all of it. */
function bodyStartOf({ message, http }: Failure): string | undefined {
  return message.includes(http?.bodyStart ?? '') ? undefined : http?.bodyStart;
}

function exitOf({ exit }: Failure): string | undefined {
  if (exit === undefined) return undefined;
  return exit.signal === null ? `code ${exit.code}` : `signal ${exit.signal}`;
}

function lastWords({ stderrTail, error }: ServerStatus): string[] {
  return [...section('stderr', stderrTail), ...section('stdout', error?.stdoutTail ?? [])];
}

function section(stream: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  return [
    `${stream}:`,
    ...excerptOf(countRepeated(lines.map(manyLines)), MAX_LINES).map((line) => `  | ${line}`),
  ];
}

/** Lines that follow each other and are the same become one, with their number. */
export function countRepeated(lines: readonly string[]): readonly string[] {
  const counted: { line: string; count: number }[] = [];
  for (const line of lines) {
    const last = counted.at(-1);
    if (last?.line === line) last.count += 1;
    else counted.push({ line, count: 1 });
  }
  return counted.map(({ line, count }) => (count === 1 ? line : `${line} (× ${count})`));
}

/**
 * The marks that every server carries in its environment and passes on to its children: they name their owner, which is
 * the host, and their session. A process belongs to a session if it carries both.
 *
 * It names the host by process namespace, number and start time, which together identify one process as long as the
 * machine runs, and ends in a random token, so that no process carries it by accident. There are marks only if they can be
 * read back, which needs Linux's `/proc`. A process that is to outlive its server can be started without the first variable.
 */
import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { isKnown, statOf } from './process-table.js';

export const OWNER_VARIABLE = 'TROUPE_OWNER';
export const SESSION_VARIABLE = 'TROUPE_SESSION';

/** The variables that mark the processes of one session. */
export type SessionMark = Readonly<Record<typeof OWNER_VARIABLE | typeof SESSION_VARIABLE, string>>;

interface Owner {
  readonly namespace: string;
  readonly pid: number;
  readonly start: string;
}

const MARK = /^(\d+)-(\d+)-(\d+)-[\da-f]{32}$/;

let own: string | false | undefined;
let sessions = 0;

/** The marks of another session of this host. Undefined if marks cannot be read back. */
export function newSessionMark(): SessionMark | undefined {
  const owner = ownMark();
  if (owner === undefined) return undefined;
  sessions += 1;
  return { [OWNER_VARIABLE]: owner, [SESSION_VARIABLE]: String(sessions) };
}

/** The mark of this process; the same at every call. Undefined if marks cannot be read back. */
export function ownMark(): string | undefined {
  own ??= makeMark() ?? false;
  return own === false ? undefined : own;
}

function makeMark(): string | undefined {
  const namespace = processNamespace();
  const start = statOf(process.pid)?.start;
  if (namespace === undefined || start === undefined) return undefined;
  return `${namespace}-${process.pid}-${start}-${randomBytes(16).toString('hex')}`;
}

/** Whether this is the mark of a host that is proven dead. Nothing can be proven about numbers of another namespace. */
export function isOfDeadHost(mark: string): boolean {
  const owner = parseMark(mark);
  return owner !== undefined && owner.namespace === processNamespace() && isDead(owner);
}

/** When the owner started, in the clock ticks of the process table: a process that is older cannot carry its mark. */
export function startOfOwner(mark: string): number {
  return Number(parseMark(mark)?.start ?? 0);
}

function parseMark(mark: string): Owner | undefined {
  const [, namespace, pid, start] = MARK.exec(mark) ?? [];
  if (namespace === undefined || pid === undefined || start === undefined) return undefined;
  return { namespace, pid: Number(pid), start };
}

/** The kernel is asked last: it also knows processes that `/proc` hides. */
function isDead({ pid, start }: Owner): boolean {
  const stat = statOf(pid);
  return stat === undefined ? !isKnown(pid) : !stat.isLiving || stat.start !== start;
}

function processNamespace(): string | undefined {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0];
  } catch {
    return undefined;
  }
}

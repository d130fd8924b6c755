/**
 * The living processes of a session, by their marks (Linux): those that have left the group of the server and lost their
 * parent (daemons) are found in no other way.
 *
 * Not found: a process whose environment cannot be read, because it runs as another user or hides or overwrites it.
 */
import { readFileSync } from 'node:fs';
import { OWNER_VARIABLE, SESSION_VARIABLE, startOfOwner, type SessionMark } from './owner-mark.js';
import { livingProcesses, type LivingProcess } from './process-table.js';

interface Reading {
  readonly owner: string;
  readonly bySession: ReadonlyMap<string, readonly LivingProcess[]>;
}

let reading: Reading | undefined;

/** The environments are read at most once per turn of the event loop, however many sessions end at the same time. */
export function processesOf(mark: SessionMark): readonly LivingProcess[] {
  const owner = mark[OWNER_VARIABLE];
  if (reading?.owner !== owner) {
    reading = { owner, bySession: readMarks(owner) };
    setImmediate(() => {
      reading = undefined;
    });
  }
  return reading.bySession.get(mark[SESSION_VARIABLE]) ?? [];
}

function readMarks(owner: string): Reading['bySession'] {
  const bySession = new Map<string, LivingProcess[]>();
  const since = startOfOwner(owner);
  for (const each of livingProcesses() ?? []) {
    // The children of the host are servers and the guard. No other process of a session has this parent.
    const isCandidate = each.parent !== process.pid && (each.start ?? since) >= since;
    const variables = isCandidate ? environmentOf(each.pid) : [];
    if (!variables.includes(`${OWNER_VARIABLE}=${owner}`)) continue;
    const prefix = `${SESSION_VARIABLE}=`;
    const session = variables.find((variable) => variable.startsWith(prefix))?.slice(prefix.length);
    if (session !== undefined) bySession.set(session, [...(bySession.get(session) ?? []), each]);
  }
  return bySession;
}

function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}

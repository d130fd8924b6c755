/**
 * The resources that a run could leave behind: processes (found by a mark in their environment, which Troupe passes on),
 * descriptors, active resources, listeners on `process`, and timers.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive, killAll } from '../faults/processes.mjs';

const MARK_NAME = 'LC_TROUPE_CHAOS_MARK';
const SETTLE_MS = 3_000;
const POLL_MS = 50;
/** Short-lived resources of the event loop and of reading a directory. */
const PASSING_RESOURCES = new Set(['Immediate', 'FSReqCallback', 'FSReqPromise']);
/** The event loop opens this with the first stream and keeps it open. */
const OF_THE_EVENT_LOOP = '/dev/null';

/** Marks every process that is started from now on. */
export function markProcesses() {
  process.env[MARK_NAME] = `${process.pid}-${Date.now()}`;
}

/** All current resources as texts; equal texts stand for different resources. */
export function currentResources() {
  return [...processes(), ...resources(), ...descriptors(), ...listeners()];
}

/** The resources that are new since `before`. Waits for a moment so that short-lived ones can end. */
export async function leftSince(before) {
  const deadline = Date.now() + SETTLE_MS;
  let left = newSince(before);
  while (left.length > 0 && Date.now() < deadline) {
    await pause(POLL_MS);
    left = newSince(before);
  }
  return left;
}

function newSince(before) {
  const known = [...before];
  return currentResources().filter((thing) => {
    const at = known.indexOf(thing);
    if (at !== -1) known.splice(at, 1);
    return at === -1;
  });
}

/** Ends the marked processes, so that they do not affect the next run. */
export function endMarkedProcesses() {
  killAll(markedProcesses());
}

function markedProcesses() {
  return list('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => read(`/proc/${pid}/environ`).includes(`${MARK_NAME}=${process.env[MARK_NAME]}`))
    .map(Number)
    .filter(isAlive);
}

function processes() {
  return markedProcesses().map(
    (pid) => `process ${pid}: ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()}`,
  );
}

function resources() {
  return process
    .getActiveResourcesInfo()
    .filter((kind) => !PASSING_RESOURCES.has(kind))
    .map((kind) => `active resource: ${kind}`);
}

function descriptors() {
  return list('/proc/self/fd').flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`);
      return target === OF_THE_EVENT_LOOP ? [] : [`descriptor: ${target}`];
    } catch {
      // The descriptor of the directory itself is already closed.
      return [];
    }
  });
}

function listeners() {
  return process
    .eventNames()
    .flatMap((name) =>
      Array.from({ length: process.listenerCount(name) }, () => `listener on process: ${String(name)}`),
    );
}

function list(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Empty for a process that has ended or belongs to another user. */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/**
 * What a run could leave behind: processes (by a mark in their environment, which Troupe hands on), descriptors, active
 * resources, listeners on `process`, and timers.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isAlive, killAll } from '../faults/processes.mjs';

const MARK_NAME = 'LC_TROUPE_CHAOS_MARK';
const SETTLE_MS = 3_000;
const POLL_MS = 50;
/** Turns of the event loop and the reading of a directory. */
const PASSING_RESOURCES = new Set(['Immediate', 'FSReqCallback', 'FSReqPromise']);
/** The event loop opens it with the first stream and keeps it. */
const OF_THE_EVENT_LOOP = '/dev/null';

/** Every process started from here on can be told by it. */
export function markProcesses() {
  process.env[MARK_NAME] = `${process.pid}-${Date.now()}`;
}

/** Everything that could be left behind, as words; the same words twice are two things. */
export function whatThereIs() {
  return [...processes(), ...resources(), ...descriptors(), ...listeners()];
}

/** What there is now and was not there `before`. What only needs a moment to end gets one. */
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
  return whatThereIs().filter((thing) => {
    const at = known.indexOf(thing);
    if (at !== -1) known.splice(at, 1);
    return at === -1;
  });
}

/** So that a run that found some does not leave them to the next. */
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
      // The one that listed the directory is closed again.
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

/** Empty for a process that has ended or belongs to somebody else. */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

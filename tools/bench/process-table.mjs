/** All processes of the machine, from `/proc`. Linux only; on other systems, the table is empty. */
import { readdirSync, readFileSync } from 'node:fs';

export function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/**
 * @typedef {object} Row
 * @property {number} pid
 * @property {number} parent
 * @property {number} startedAt identifies a process together with `pid`
 * @property {boolean} isZombie
 * @property {number} ticks processor time of the process and of the children that it has waited for
 */

/** @returns {Row | undefined} */
export function rowOf(stat) {
  if (stat === '') return undefined;
  // The name of the program may contain spaces and parentheses; the fields start after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid: Number.parseInt(stat, 10),
    parent: Number(fields[1]),
    startedAt: Number(fields[19]),
    isZombie: fields[0] === 'Z',
    ticks: fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0),
  };
}

export function pids() {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** @returns {Row[]} */
export const processTable = () => pids().flatMap((pid) => rowOf(textOf(`/proc/${pid}/stat`)) ?? []);

export const argumentsOf = (pid) => textOf(`/proc/${pid}/cmdline`);
export const hasVariable = (pid, name, value) =>
  textOf(`/proc/${pid}/environ`).split('\0').includes(`${name}=${value}`);

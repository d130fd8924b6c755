/** The process tree of a program that Troupe starts, as the system can end it. */
import type { ChildProcess } from 'node:child_process';
import { THIS_PLATFORM } from '../../platform/platform.js';
import type { SessionMark } from './owner-mark.js';
import { ProcessGroup } from './process-group.js';
import type { ProcessTree } from './process-tree.js';
import { TaskKill } from './task-kill.js';
import { WindowsProcessTree } from './windows-process-tree.js';

const taskKill = new TaskKill();

/** @param mark What its processes carry; see `ProcessGroup`. */
export function startedTree(
  child: ChildProcess,
  pid: number,
  mark?: SessionMark,
  { hasProcessGroups } = THIS_PLATFORM,
): ProcessTree {
  return hasProcessGroups ? new ProcessGroup(child, pid, mark) : new WindowsProcessTree(child, pid, taskKill);
}

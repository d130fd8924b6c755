/**
 * The processes of one run, and the processor time that they used.
 *
 * Owns: who belongs to a run, and its ticks, from samples of the table of processes.
 *
 * P1. To a run belongs who has its mark in the environment, and whoever a member has started. Once a member, always one:
 *     a process keeps belonging when its parent ends and it is given to another.
 * P2. Time of a process that its parent has waited for is in the parent's. Time of one that nobody of the run waited for
 *     (killed together with its parent, or left by it) is what was seen of it last.
 * P3. A process is told in whole ticks of user and of system time, half a tick less than it used of each on average. With
 *     a hundred servers that is a second, so it is given back to those that are not in the time of a parent.
 * P4. The root is the bench itself: its time counts, and it is never among those that are left.
 */
const CUT_OFF = 1;

export class RunProcesses {
  #root;
  #isMarked;
  #members = new Map();
  #strangers = new Set();
  #rootRow;
  #lost = 0;

  /**
   * @param {number} root
   * @param {(pid: number) => boolean} isMarked asked once for each process
   */
  constructor(root, isMarked) {
    this.#root = root;
    this.#isMarked = isMarked;
  }

  /** @param {import('./process-table.mjs').Row[]} table as it is now */
  take(table) {
    const members = this.#membersIn(table);
    const rootRow = table.find(({ pid }) => pid === this.#root) ?? this.#rootRow;
    if (this.#rootRow !== undefined) this.#lost += this.#lostSince(members, rootRow);
    this.#members = members;
    this.#rootRow = rootRow;
  }

  /** Of the root and of all that belonged to the run, as far as it was seen. */
  get ticks() {
    const root = this.#rootRow?.ticks ?? 0;
    return [...this.#members.values()].reduce((sum, row) => sum + usedBy(row), root + this.#lost);
  }

  /** Those that had not ended at the last sample. */
  get alive() {
    return [...this.#members.values()].filter(({ isZombie }) => !isZombie).map(({ pid }) => pid);
  }

  #membersIn(table) {
    const rows = new Map(table.map((row) => [row.pid, row]));
    const found = new Map();
    const isMember = (pid) => {
      const row = rows.get(pid);
      if (row === undefined) return false;
      if (found.has(pid)) return true;
      const key = keyOf(row);
      if (pid === this.#root || this.#strangers.has(key)) return false;
      const isOurs = isSame(this.#members.get(pid), row) || this.#isMarked(pid) || isMember(row.parent);
      if (isOurs) found.set(pid, row);
      else this.#strangers.add(key);
      return isOurs;
    };
    for (const pid of rows.keys()) isMember(pid);
    return found;
  }

  /** Ticks of members that have ended since the last sample and are in nobody's time. */
  #lostSince(members, rootRow) {
    const isThere = (row) => isSame(members.get(row.pid), row);
    const gone = [...this.#members.values()].filter((row) => !isThere(row));
    /** Who has waited for the first of a line that ended: undefined is somebody else. */
    const heirOf = ({ parent }) => {
      if (parent === this.#root) return { before: this.#rootRow, now: rootRow };
      const before = this.#members.get(parent);
      if (before === undefined) return undefined;
      return isThere(before) ? { before, now: members.get(parent) } : heirOf(before);
    };
    const lines = new Map();
    let lost = 0;
    for (const row of gone) {
      const heir = heirOf(row);
      if (heir === undefined) {
        lost += usedBy(row);
        continue;
      }
      const { pid } = heir.now;
      const line = lines.get(pid) ?? { inherited: heir.now.ticks - heir.before.ticks, direct: 0, below: 0 };
      if (row.parent === pid) line.direct += usedBy(row);
      else line.below += usedBy(row);
      lines.set(pid, line);
    }
    // What ended below one that ended too was waited for or was not: what the heir has got says how much of it.
    for (const { inherited, direct, below } of lines.values())
      lost += Math.max(0, below - Math.max(0, inherited - direct));
    return lost;
  }
}

const usedBy = ({ ticks }) => (ticks === 0 ? 0 : ticks + CUT_OFF);
const keyOf = ({ pid, startedAt }) => `${pid} ${startedAt}`;
const isSame = (one, other) => one !== undefined && one.startedAt === other.startedAt;

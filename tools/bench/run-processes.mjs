/**
 * The processes of one run, and the processor time that they used.
 *
 * Owns: the membership of processes in a run, and their ticks, from samples of the process table.
 *
 * P1. A process belongs to a run if it has its mark in the environment or if a member has started it. It stays a member
 *     even if its parent ends and it gets another one.
 * P2. The time of a process that its parent has waited for is in the time of the parent. For a process that no member has
 *     waited for (killed together with its parent, or left by it), the last sample counts.
 * P3. The time of a process is rounded down to whole ticks of user and of system time, on average half a tick each. With a
 *     hundred servers, this is a second, so it is added for processes that are not in the time of a parent.
 * P4. The root is the bench itself: its time counts, and it never counts as left over.
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
   * @param {(pid: number) => boolean} isMarked called once for each process
   */
  constructor(root, isMarked) {
    this.#root = root;
    this.#isMarked = isMarked;
  }

  /** @param {import('./process-table.mjs').Row[]} the current table */
  take(table) {
    const members = this.#membersIn(table);
    const rootRow = table.find(({ pid }) => pid === this.#root) ?? this.#rootRow;
    if (this.#rootRow !== undefined) this.#lost += this.#lostSince(members, rootRow);
    this.#members = members;
    this.#rootRow = rootRow;
  }

  /** Ticks of the root and of all members, as far as they were sampled. */
  get ticks() {
    const root = this.#rootRow?.ticks ?? 0;
    return [...this.#members.values()].reduce((sum, row) => sum + usedBy(row), root + this.#lost);
  }

  /** Members that were alive at the last sample. */
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

  /** Ticks of members that have ended since the last sample and are not in the time of another process. */
  #lostSince(members, rootRow) {
    const isThere = (row) => isSame(members.get(row.pid), row);
    const gone = [...this.#members.values()].filter((row) => !isThere(row));
    /** The member that waited for the first process of an ended line; undefined if it was another process. */
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
    // Descendants of an ended process may have been waited for or not: the increase of the heir's time shows how much.
    for (const { inherited, direct, below } of lines.values())
      lost += Math.max(0, below - Math.max(0, inherited - direct));
    return lost;
  }
}

const usedBy = ({ ticks }) => (ticks === 0 ? 0 : ticks + CUT_OFF);
const keyOf = ({ pid, startedAt }) => `${pid} ${startedAt}`;
const isSame = (one, other) => one !== undefined && one.startedAt === other.startedAt;

/** Reads from the beats of the servers when each of them ran, and whether two ran together. Pure. */

/** One run for each process, in the order of their beginnings. Times in milliseconds. */
export function runsOf(text) {
  const runs = new Map();
  for (const line of text.split('\n')) {
    const [token, pid, at] = line.split(' ');
    // The last line of a server that was killed may be cut off.
    if (!/^\d{10,}$/.test(at ?? '')) continue;
    const ms = Number(at) / 1e6;
    const run = runs.get(pid) ?? { token, pid, first: ms, last: ms };
    run.last = Math.max(run.last, ms);
    runs.set(pid, run);
  }
  return [...runs.values()].toSorted((a, b) => a.first - b.first);
}

/** What happened from a moment on. */
export function judge(all, since) {
  const runs = all.filter(({ last }) => last >= since);
  const figures = { overlaps: 0, togetherMs: 0, shrunk: 0, gapsMs: [] };
  for (const [index, run] of runs.entries()) {
    const earlier = runs.slice(0, index);
    const together = Math.max(-Infinity, ...earlier.map(({ last }) => Math.min(last, run.last) - run.first));
    if (together >= 0) {
      figures.overlaps += 1;
      figures.togetherMs = Math.max(figures.togetherMs, Math.round(together));
    } else if (index > 0) figures.gapsMs.push(Math.round(-together));
    if (earlier.some(({ token }) => token > run.token)) figures.shrunk += 1;
  }
  return figures;
}

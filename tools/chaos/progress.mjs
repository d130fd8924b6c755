/** A line every ten seconds: how the connections are, and what has happened so far. */
const EVERY_MS = 10_000;

/** Gives the function that ends it. */
export function startProgress(tell, { name, troupe, ledger, log }) {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const states = {};
    for (const { state } of troupe.status) states[state] = (states[state] ?? 0) + 1;
    const shown = Object.entries(states).map(([state, count]) => `${count} ${state}`);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const { 'connection.lost': lost = 0, 'connection.failed': failed = 0 } = log.counts;
    tell(
      `${name}, ${seconds} s: ${shown.join(', ')}; ${ledger.size} calls, ${lost} lost, ${failed} given up`,
    );
  }, EVERY_MS);
  return () => clearInterval(timer);
}

/** Reports the states of the connections and the counts so far every ten seconds. */
const EVERY_MS = 10_000;

/** Returns the function that stops the reports. */
export function startProgress(report, { name, troupe, ledger, log }) {
  const startedAt = performance.now();
  const timer = setInterval(() => {
    const states = {};
    for (const { state } of troupe.status) states[state] = (states[state] ?? 0) + 1;
    const shown = Object.entries(states).map(([state, count]) => `${count} ${state}`);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const { 'connection.lost': lost = 0, 'connection.failed': failed = 0 } = log.counts;
    report(
      `${name}, ${seconds} s: ${shown.join(', ')}; ${ledger.size} calls, ${lost} lost, ${failed} given up`,
    );
  }, EVERY_MS);
  return () => clearInterval(timer);
}

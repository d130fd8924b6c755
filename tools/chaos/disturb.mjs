/** The chaos itself: callers call tools and the steps of the plan run until the time is over. */
import { once, setMaxListeners } from 'node:events';
import { callUntil } from './callers.mjs';
import { makePlan } from './plan.mjs';
import { playPlan } from './play-plan.mjs';
import { within } from './within.mjs';

const LAST_CALLS_LIMIT_MS = 60_000;
const CONNECTIONS_PER_CALLER = 8;
const FEWEST_CALLERS = 4;
const MAX_CALLERS = 24;

/** Resolves when every call has settled and every step is done, with the faults as sentences. */
export async function disturb(
  { troupe, fleet, ledger, log },
  { connections, durationMs, seed, signal: interrupted },
) {
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), durationMs);
  const signal = AbortSignal.any([time.signal, interrupted]);
  // Every lasting step listens to the signal.
  setMaxListeners(0, signal);
  const wanted = Math.round(connections / CONNECTIONS_PER_CALLER);
  const callers = Math.min(MAX_CALLERS, Math.max(FEWEST_CALLERS, wanted));
  const names = fleet.allNames;
  const calling = Array.from({ length: callers }, (_, index) =>
    callUntil(signal, { troupe, ledger, names, seed: seed + index + 1, name: `caller${index}` }),
  );
  try {
    const plan = makePlan({ seed, names: fleet.names, durationMs });
    const faults = await playPlan(plan, { troupe, fleet, log, signal });
    if (!signal.aborted) await once(signal, 'abort');
    await within(LAST_CALLS_LIMIT_MS, 'settling the last calls', Promise.all(calling));
    return faults;
  } finally {
    clearTimeout(timer);
  }
}

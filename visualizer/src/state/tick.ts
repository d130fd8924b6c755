/** The time of the source, for countdowns. */
import { useEffect, useState } from 'preact/hooks';
import { usePage } from './page-context.js';

/** Milliseconds since the epoch, updated every second while `isNeeded`. */
export function useNow(isNeeded: boolean): number {
  const { clockAhead } = usePage();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isNeeded) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isNeeded]);
  return now + clockAhead;
}

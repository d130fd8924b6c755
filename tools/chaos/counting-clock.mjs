/** The system clock with a count of the pending timers, because nothing else reports all of them. */
export function countingClock() {
  const running = new Set();
  return {
    get running() {
      return running.size;
    },
    now: () => Date.now(),
    setTimeout(fn, ms) {
      const timer = setTimeout(() => {
        running.delete(timer);
        fn();
      }, ms);
      running.add(timer);
      return timer;
    },
    clearTimeout(timer) {
      running.delete(timer);
      clearTimeout(timer);
    },
  };
}

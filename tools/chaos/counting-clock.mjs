/** The system's clock, with a count of the timers that were neither cleared nor have fired: no other look finds them all. */
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

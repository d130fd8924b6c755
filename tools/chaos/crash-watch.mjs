/** Records what would have crashed the process of a host: uncaught errors and unhandled rejections. */
import { setImmediate as turn } from 'node:timers/promises';

export function watchCrashes() {
  const crashes = [];
  const onError = (error) => crashes.push(`uncaught error: ${error?.stack ?? error}`);
  const onRejection = (error) => crashes.push(`unhandled rejection: ${error?.stack ?? error}`);
  process.on('uncaughtException', onError);
  process.on('unhandledRejection', onRejection);
  return {
    /** Waits for the last ones to be reported, and returns all. */
    async end() {
      for (let turns = 0; turns < 3; turns += 1) await turn();
      process.off('uncaughtException', onError);
      process.off('unhandledRejection', onRejection);
      return crashes;
    },
  };
}

import { openSync, writeSync } from 'node:fs';

/** Writes the token of the lease (`none` without one), the pid and the time into the file: now, and then every 5 ms. */
export function beat(path) {
  const file = openSync(path, 'a');
  const token = process.env.TROUPE_FENCE ?? 'none';
  const write = () => writeSync(file, `${token} ${process.pid} ${process.hrtime.bigint()}\n`);
  write();
  setInterval(write, 5);
}

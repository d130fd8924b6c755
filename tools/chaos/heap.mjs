/**
 * Measures the heap in use after garbage collection. Compiled code is counted separately, because the optimization of a
 * running program continues for minutes and changes a small heap by a tenth.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { getHeapCodeStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const ROUNDS = 5;
const BETWEEN_MS = 100;

/** The smallest of several measurements in bytes: `data` is the data of the program, `code` the compiled code. */
export async function heapLevel() {
  const gc = globalThis.gc ?? exposedGc();
  let level = { data: Infinity, code: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    await pause(BETWEEN_MS);
    gc();
    const { code_and_metadata_size: machine, bytecode_and_metadata_size: bytes } = getHeapCodeStatistics();
    const code = machine + bytes;
    const data = process.memoryUsage().heapUsed - code;
    if (data < level.data) level = { data, code };
  }
  return level;
}

function exposedGc() {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

/** Shows what a program writes to a file, while it runs. */
import { closeSync, openSync, readSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

const PERIOD_MS = 1_000;

/** Resolves when the program has ended. It is killed if it writes nothing for too long. */
export async function follow(path, { child, ended, silenceMs }) {
  const file = openSync(path, 'r');
  const chunk = Buffer.alloc(65_536);
  const write = (text) => process.stdout.write(process.stdout.isTTY ? text : stripVTControlCharacters(text));
  const show = () => {
    let size = 0;
    for (let read; (read = readSync(file, chunk)) > 0; size += read) write(chunk.toString('utf8', 0, read));
    return size;
  };
  const over = ended.then(() => 'over');
  let silentMs = 0;
  while ((await Promise.race([pause(PERIOD_MS), over])) !== 'over') {
    silentMs = show() > 0 ? 0 : silentMs + PERIOD_MS;
    if (silentMs < silenceMs) continue;
    console.error(`FAILED  no output for ${silenceMs / 1_000} s`);
    child.kill('SIGKILL');
    await over;
  }
  show();
  closeSync(file);
}

/**
 * A stdio server. `stdio-server.mjs FOLDER NAME [--with-child]`
 *
 * Its mood is in `FOLDER/NAME.mood` and is read before each message; without the file, it works normally. It writes to
 * the journal if another process of the same name is alive, because there must never be two.
 */
import { spawn } from 'node:child_process';
import { closeSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isAlive } from '../../faults/processes.mjs';
import { note, serve, WELL } from './serve.mjs';

const [folder, name, ...flags] = process.argv.slice(2);
const journal = join(folder, 'journal.jsonl');
const BROKEN = 7;
const STDOUT = 1;

function readText(file) {
  try {
    return readFileSync(join(folder, file), 'utf8');
  } catch {
    return undefined;
  }
}

function currentMood() {
  const text = readText(`${name}.mood`);
  return text === undefined ? WELL : JSON.parse(text);
}

function noteIfSecond() {
  const former = Number(readText(`${name}.pid`));
  if (former > 0 && isAlive(former)) note(journal, { ev: 'second', name, pid: process.pid, former });
  writeFileSync(join(folder, `${name}.pid`), String(process.pid));
}

function cut({ how }) {
  if (how === 'exit') process.exit(BROKEN);
  closeSync(STDOUT);
}

function hear(line) {
  const mood = currentMood();
  if (mood.name === 'babbles') process.stdout.write('this is no message\n');
  serve(JSON.parse(line), {
    mood,
    journal,
    reply: (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`),
    cut: () => cut(mood),
    later: setTimeout,
  });
}

/** Whether it ignores requests to stop. */
const isStubborn = () => currentMood().name === 'stubborn';

if (currentMood().name === 'refuses') {
  process.stderr.write('chaos: this server refuses to start\n');
  process.exit(BROKEN);
}
noteIfSecond();
if (flags.includes('--with-child')) spawn('sleep', ['3600'], { stdio: 'ignore' });
process.on('SIGTERM', () => {
  if (!isStubborn()) process.exit();
});
process.stdout.on('error', () => {});
createInterface({ input: process.stdin })
  .on('line', hear)
  .on('close', () => {
    if (isStubborn()) setInterval(() => {}, 60_000);
    else process.exit();
  });

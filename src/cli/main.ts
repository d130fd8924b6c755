#!/usr/bin/env node
/** The command `troupe`. The exit code is set and the process left to end by itself, so that all output gets out. */
import { EXIT } from './exit-codes.js';
import { run } from './program.js';
import { keepExitCode } from './signals.js';

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return;
  process.stderr.write(`troupe: the output could not be written: ${message}\n`);
  process.exitCode = EXIT.failed;
});

const endBegins = keepExitCode(process);
const code = await run(process.argv.slice(2), process);
process.exitCode ??= code;
endBegins();

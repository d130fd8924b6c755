#!/usr/bin/env node
/** The command `troupe`. It sets the exit code and lets the process end by itself, so that all output is written. */
import { EXIT, keepExitCode } from './exit.js';
import { whyTooOld } from './node-version.js';

process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return;
  process.stderr.write(`troupe: the output could not be written: ${message}\n`);
  process.exitCode = EXIT.failed;
});

const tooOld = whyTooOld(process.versions.node);
if (tooOld === undefined) {
  const endBegins = keepExitCode(process);
  // Not before: an older version of Node cannot load it.
  const { run } = await import('./program.js');
  const code = await run(process.argv.slice(2), process);
  process.exitCode ??= code;
  endBegins();
} else {
  process.stderr.write(`troupe: ${tooOld}\n`);
  process.exitCode = EXIT.failed;
}

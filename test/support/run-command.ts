/** Runs a command in this process. What it prints with `--json` must fit the published schema. */
import { run as runUnchecked } from '../../src/cli/program.js';
import { checkOutput } from './command-output.js';
import { FakeStream } from './fake-stream.js';

export const run: typeof runUnchecked = async (args, host) => {
  const code = await runUnchecked(args, host);
  if (host.stdout instanceof FakeStream) checkOutput(args, host.stdout.written);
  return code;
};

/** How a script reaches a program: as JSON on its command line, or in a file that is named there. */
import { readFileSync } from 'node:fs';
import type { ServerScript } from './server-script.js';

/** Linux takes no longer argument, its last null included, whatever room there is. */
const LONGEST_BYTES = 131_071;

/** The script as an argument. Throws a `RangeError` for one that is too long for that. */
export function toArgument(script: string): string {
  const bytes = Buffer.byteLength(script);
  if (bytes <= LONGEST_BYTES) return script;
  const sizes = `has ${bytes.toLocaleString('en-US')} bytes, and an argument at most ${LONGEST_BYTES.toLocaleString('en-US')}`;
  throw new RangeError(`The script ${sizes}: write it into a file, and start the program with its path.`);
}

/** What the argument says. Throws an `Error` that names the file where it cannot be read, and where it is not JSON. */
export function fromArgument(argument: string): ServerScript {
  const isFile = !argument.trimStart().startsWith('{');
  const text = isFile ? readFileSync(argument, 'utf8').replace(/^\uFEFF/, '') : argument;
  try {
    return JSON.parse(text) as ServerScript;
  } catch (cause) {
    const what = isFile ? `'${argument}'` : 'The argument';
    throw new Error(`${what} is no script: ${(cause as Error).message}`, { cause });
  }
}

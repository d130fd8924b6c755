/** Passes a script to a program: as JSON on its command line, or in a file that is named there. */
import { readFileSync } from 'node:fs';
import type { ServerScript } from './server-script.js';
import { digitGroups } from '../text/digit-groups.js';

/** Linux accepts no longer single argument, without its final null. */
const MAX_BYTES = 131_071;

/** The script as an argument. Throws a `RangeError` if it is too long. */
export function toArgument(script: string): string {
  const bytes = Buffer.byteLength(script);
  if (bytes <= MAX_BYTES) return script;
  const sizes = `has ${digitGroups(bytes)} bytes, and an argument at most ${digitGroups(MAX_BYTES)}`;
  throw new RangeError(`The script ${sizes}: write it into a file, and start the program with its path.`);
}

/** The script in an argument. Throws an `Error` that names the file if it cannot be read or is not JSON. */
export function fromArgument(argument: string): ServerScript {
  const isFile = !argument.trimStart().startsWith('{');
  const text = isFile ? readFileSync(argument, 'utf8').replace(/^\uFEFF/, '') : argument;
  try {
    return JSON.parse(text) as ServerScript;
  } catch (cause) {
    const what = isFile ? `'${argument}'` : 'The argument';
    throw new Error(`${what} is not a script: ${(cause as Error).message}`, { cause });
  }
}

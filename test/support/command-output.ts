/** Checks what commands print with `--json` against the published schema. */
import { readFileSync } from 'node:fs';
import { Validator, type Schema } from '@cfworker/json-schema';

const FILE = new URL('../../docs/reference/command-output.schema.json', import.meta.url);
/** They print a value on each line. */
const BY_LINES: readonly string[] = ['up', 'serve', 'inspect', 'logs'];

const { definitions = {} } = JSON.parse(readFileSync(FILE, 'utf8')) as Schema;
const validators = new Map<string, Validator>();

/** Throws if a value that a command printed does not fit its schema. */
export function checkValue(command: string, value: unknown): void {
  const known =
    validators.get(command) ?? new Validator({ $ref: `#/definitions/${command}`, definitions }, '7', false);
  validators.set(command, known);
  const { valid, errors } = known.validate(value);
  if (valid) return;
  const lines = errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
  throw new Error(`'troupe ${command} --json' printed what its schema does not allow:\n${lines.join('\n')}`);
}

/** The same for all that a finished command printed on stdout. */
export function checkOutput(args: readonly string[], stdout: string): void {
  const command = args.find((word) => Object.hasOwn(definitions, word));
  const isOfMcp = command === 'serve' && !args.includes('--http');
  if (command === undefined || !args.includes('--json') || args.includes('--help') || isOfMcp) return;
  const values = BY_LINES.includes(command) ? stdout.split('\n') : [stdout];
  for (const text of values) if (text !== '') checkValue(command, JSON.parse(text));
}

/**
 * Whether a stream gets colors: `--no-color` decides first, then `NO_COLOR` (no-color.org), then `FORCE_COLOR`, then
 * whether it is a terminal that supports them.
 */
import picocolors from 'picocolors';

export type Colors = ReturnType<typeof picocolors.createColors>;

export interface ColorChoice {
  readonly isTerminal: boolean;
  /** False if `--no-color` was given. */
  readonly isAllowed: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function colorsFor(choice: ColorChoice): Colors {
  return picocolors.createColors(wantsColor(choice));
}

function wantsColor({ isTerminal, isAllowed, env }: ColorChoice): boolean {
  if (!isAllowed || isSet(env['NO_COLOR'])) return false;
  const forced = env['FORCE_COLOR'];
  if (isSet(forced)) return forced !== '0' && forced !== 'false';
  return isTerminal && env['TERM'] !== 'dumb';
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

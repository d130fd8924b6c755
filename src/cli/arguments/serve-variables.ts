/**
 * The flags of `troupe serve` as environment variables, for containers and units: `--drain-delay` is `TROUPE_SERVE_DRAIN_DELAY`.
 *
 * E1. A flag of the command line wins over its variable. An empty variable counts as not set.
 * E2. A value that the flag would refuse is refused under the name of the variable. No message repeats the value.
 * E3. A variable that begins like the others and means nothing is reported, unless a platform makes it.
 */
import { delimiter } from 'node:path';
import { InvalidArgumentError, type Command, type Option } from 'commander';
import { nearestName } from '../../text/option-names.js';
import { SERVE_CHAIN_VARIABLE } from '../../transports/stdio/child-environment.js';
import { UsageError } from '../exit.js';

type Variables = Readonly<Record<string, string | undefined>>;

const PREFIX = 'TROUPE_SERVE_';
/** Read where the token is chosen: it is a secret, and also counts beside `--no-token`. */
const TOKEN = `${PREFIX}TOKEN`;
/** General flags that a service needs. */
const GENERAL = ['config', 'discover', 'timeout', 'verbose'];
const REPEATABLE: ReadonlySet<string> = new Set([
  'config',
  'oauth-issuer',
  'allow-origin',
  'allow-host',
  'require',
]);
/** Kubernetes sets these for a service that is called `troupe-serve`. */
const OF_PLATFORMS = /_(SERVICE_HOST|SERVICE_PORT\w*|PORT(_\d+_\w+)?)$/;

/** The option of each variable. */
export function serveVariables(command: Command): ReadonlyMap<string, Option> {
  const general = (command.parent?.options ?? []).filter((option) => GENERAL.includes(option.name()));
  const options = [...command.options, ...general].filter(({ long }) => long !== '--token');
  return new Map(options.map((option) => [variableOf(option), option]));
}

function variableOf({ long = '' }: Option): string {
  return `${PREFIX}${long.slice(2).replaceAll('-', '_').toUpperCase()}`;
}

/** Sets the flags that the command line does not give. Throws a `UsageError` that names the variable. */
export function applyVariables(
  command: Command,
  env: Variables,
): { readonly used: ReadonlyMap<string, string>; readonly warnings: readonly string[] } {
  const known = serveVariables(command);
  const used = new Map<string, string>();
  const given = isGiven(command);
  for (const [variable, option] of known) {
    const text = env[variable] ?? '';
    const attribute = option.attributeName();
    if (text === '' || given(attribute)) continue;
    const owner = command.options.includes(option) ? command : (command.parent ?? command);
    const value = valueOf(option, text, variable);
    if (value === undefined) continue;
    owner.setOptionValueWithSource(attribute, value, 'env');
    used.set(attribute, variable);
  }
  return { used, warnings: strangers(env, [...known.keys()]) };
}

/** Which flags are on the command line. */
function isGiven(command: Command): (attribute: string) => boolean {
  const all = [...command.options, ...(command.parent?.options ?? [])].map((option) =>
    option.attributeName(),
  );
  const given = new Set(all.filter((name) => command.getOptionValueSourceWithGlobals(name) === 'cli'));
  return (attribute) => given.has(attribute);
}

/** Undefined leaves the flag as it is. */
function valueOf(option: Option, text: string, variable: string): unknown {
  const isSwitch = !option.required && !option.optional;
  const isOn = SWITCH.get(text.toLowerCase());
  if (isSwitch) {
    if (isOn === undefined) throw new UsageError(`${variable}: expected true or false`);
    if (!option.negate) return isOn;
    return isOn ? false : undefined;
  }
  if (option.optional && text === 'true') return true;
  try {
    return partsOf(option, text).reduce<unknown>(
      (before, part) => (option.parseArg === undefined ? part : option.parseArg(part, before as never)),
      undefined,
    );
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new UsageError(`${variable}: ${error.message}`);
    throw error;
  }
}

const SWITCH: ReadonlyMap<string, boolean> = new Map([
  ['1', true],
  ['true', true],
  ['0', false],
  ['false', false],
]);

/** A flag that is repeatable has several values in one variable: files as in PATH, anything else with commas. */
function partsOf(option: Option, text: string): readonly string[] {
  if (!REPEATABLE.has(option.name())) return [text];
  const separator = option.name() === 'config' ? delimiter : ',';
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function strangers(env: Variables, known: readonly string[]): readonly string[] {
  const own = new Set([...known, TOKEN, SERVE_CHAIN_VARIABLE]);
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !own.has(name) && !OF_PLATFORMS.test(name))
    .map((name) => {
      const near = nearestName(name, [...own]);
      return `${name} is no variable of this command and has no effect.${near === undefined ? '' : ` Did you mean ${near}?`}`;
    });
}

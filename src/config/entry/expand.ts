/**
 * Replaces variables by their values, for one attempt to start one server.
 *
 * E1. Pure, and evaluated again for each attempt, so that rotated credentials are picked up.
 * E2. A value is inserted as it is: it is never read as a template, and a `~` in it does not mean the home folder.
 * E3. A failure names server, field and variable, and holds no value.
 * E4. The result is ready to use: absolute working directory, valid address and headers.
 */
import { basename, resolve, sep } from 'node:path';
import type { ExpansionOptions, EntryOAuth, HttpServerConfig, ServerConfig } from './server-config.js';
import type { RawFailure } from '../../failures/transport-error.js';
import { THIS_PLATFORM } from '../../platform/platform.js';
import { mapTexts, type TextField, headerValueProblem, urlProblem } from './entry-texts.js';
import type { ServerSpec } from './server-spec.js';
import { fieldName, printable, type Path } from './problem.js';
import {
  isBuiltin,
  parseTemplate,
  renderTemplate,
  variablesIn,
  type Builtin,
  type Variable,
} from './template.js';

export interface ExpansionContext extends ExpansionOptions {
  /** The host's variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The value of `${workspaceFolder}`. Without it, that reference is missing like any other. */
  readonly workspaceFolder?: string;
  /** The value of `${userHome}`, and of a leading `~` in command, args and cwd. If it is unknown, both are missing. */
  readonly home: string | undefined;
  /** The answers by the names of their variables: `input:ID`. Default: none. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** The variables in the `envFile` of the entry; its `env` takes precedence. Default: none. */
  readonly fileEnv?: Readonly<Record<string, string>>;
}

export type Expansion = { readonly config: ServerConfig } | { readonly failure: RawFailure };

/** The entry as it is to be started, or why it cannot start. Never throws. */
export function expandConfig(
  spec: Pick<ServerSpec, 'name' | 'baseDir' | 'config'>,
  context: ExpansionContext,
): Expansion {
  const { name, baseDir, config } = spec;
  const missing: string[] = [];
  const lookUp = makeLookUp(config, context);
  const expanded = mapTexts(config, (text, field) => {
    const value = renderTemplate(
      parseTemplate(afterHome(text, field), field.syntax),
      (variable) => lookUp.value(variable, field),
      (variable) => {
        if (staysAsWritten(variable, field) && context.missing !== 'empty') return `$${variable.name}`;
        missing.push(`${nameToSet(variable)} (in '${fieldName(field.path)}')`);
        return '';
      },
    );
    lookUp.remember(field, value);
    if (!startsAtHome(text, field)) return value;
    if (context.home === undefined)
      missing.push(`${THIS_PLATFORM.homeVariable} (in '${fieldName(field.path)}')`);
    return `${context.home ?? ''}${value}`;
  });
  if (missing.length > 0 && context.missing !== 'empty')
    return missingVariables(name, missing, context.headers);
  const unusable = unusableFields(expanded);
  if (unusable.length > 0) return invalid(name, unusable);
  if ('url' in expanded) return { config: { ...expanded, ...filesFrom(baseDir, expanded) } };
  if (!('command' in expanded)) return { config: expanded };
  const env = { ...context.fileEnv, ...expanded.env };
  const cwd = resolve(baseDir, expanded.cwd ?? '');
  return { config: { ...expanded, ...(Object.keys(env).length > 0 && { env }), cwd } };
}

/** An argument with `$NAME` may be meant for the program itself, such as `{ print $NF }` for awk. */
function staysAsWritten({ isBare }: Variable, { path: [place] }: TextField): boolean {
  return isBare && place === 'args';
}

/** The certificate files of an entry, as absolute paths. */
function filesFrom(baseDir: string, { ca, cert, key }: HttpServerConfig): Partial<HttpServerConfig> {
  const from = (file: string): string => resolve(baseDir, file);
  return {
    ...(ca !== undefined && { ca: [ca].flat().map(from) }),
    ...(cert !== undefined && { cert: from(cert) }),
    ...(key !== undefined && { key: from(key) }),
  };
}

interface LookUp {
  value(variable: Variable, field: TextField): string | undefined;
  /** Records the expanded value of a field: the entry's own `env` takes precedence over the host's variables. */
  remember(field: TextField, value: string): void;
}

function makeLookUp(config: ServerConfig, context: ExpansionContext): LookUp {
  const own = new Map<string, string>('command' in config ? Object.entries(context.fileEnv ?? {}) : []);
  return {
    value({ origin, name }, { path: [place] }) {
      if (origin === 'input') return context.inputs?.[name];
      if (origin === 'builtin') return isBuiltin(name) ? builtin(name, context) : undefined;
      if (place === 'headers' && context.headers === 'own-env') return own.get(name);
      return (usesOwnEnv(place) ? own.get(name) : undefined) ?? ownProperty(context.env, name);
    },
    remember({ path: [place, name] }, value) {
      if (place === 'env') own.set(String(name), value);
    },
  };
}

/** The other fields use only the host's variables, so that a person who is asked for trust sees what would run. */
function usesOwnEnv(place: unknown): boolean {
  return place !== 'command' && place !== 'cwd' && place !== 'envFile';
}

function builtin(name: Builtin, { workspaceFolder, home }: ExpansionContext): string | undefined {
  switch (name) {
    case 'workspaceFolder':
      return workspaceFolder;
    case 'workspaceFolderBasename':
      return workspaceFolder === undefined ? undefined : basename(workspaceFolder);
    case 'userHome':
      return home;
    case 'pathSeparator':
    case '/':
      return sep;
  }
}

/** The host's variable that would provide a value. */
function nameToSet({ origin, name }: Variable): string {
  return origin === 'builtin' && name === 'userHome' ? THIS_PLATFORM.homeVariable : name;
}

/** Facts about the person or the workplace. A program that is started knows them anyway; a remote server does not. */
const PERSONAL: ReadonlySet<string> = new Set<Builtin>([
  'userHome',
  'workspaceFolder',
  'workspaceFolderBasename',
]);

/**
 * Sorted names of the host's variables that an entry refers to, and of facts about the person that it would send to a
 * remote server; `*` if the child would inherit all variables.
 */
export function variablesWanted(config: ServerConfig): readonly string[] {
  const own = 'server' in config ? [] : Object.keys(config.env ?? {});
  const names = new Set<string>();
  for (const { name, origin, path } of references(config)) {
    if (origin === 'host' && !isOwn(name, path, own)) names.add(name);
    if (origin === 'builtin' && 'url' in config && PERSONAL.has(name)) names.add(name);
  }
  const inherited = 'server' in config ? [] : (config.inheritEnv ?? []);
  if (inherited === true) names.add('*');
  else if (inherited !== false) for (const name of inherited) names.add(name);
  return [...names].toSorted();
}

/** Whether the entry's own `env` supplies the variable. A value in `env` can only use the variables before it. */
function isOwn(name: string, [place, key]: Path, own: readonly string[]): boolean {
  const at = own.indexOf(name);
  if (at === -1 || !usesOwnEnv(place)) return false;
  return place !== 'env' || at < own.indexOf(String(key));
}

/** Sorted names of the inputs that an entry refers to: `input:ID`. */
export function inputsWanted(config: ServerConfig): readonly string[] {
  const names = references(config).flatMap(({ name, origin }) => (origin === 'input' ? [name] : []));
  return [...new Set(names)].toSorted();
}

/** Every reference to a variable in an entry, with its field. */
export function references(config: ServerConfig): readonly (Variable & { path: Path })[] {
  const found: (Variable & { path: Path })[] = [];
  mapTexts(config, (text, { path, syntax }) => {
    for (const variable of variablesIn(parseTemplate(text, syntax))) found.push({ ...variable, path });
    return text;
  });
  return found;
}

function ownProperty(env: ExpansionContext['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** `~` means the home folder if the text as written begins with it as a whole folder name; `~other` stays unchanged. */
function startsAtHome(text: string, { syntax }: TextField): boolean {
  return syntax === 'command-line' && /^~(?=$|[/\\])/.test(text);
}

function afterHome(text: string, field: TextField): string {
  return startsAtHome(text, field) ? text.slice(1) : text;
}

const OAUTH_ADDRESSES: ReadonlySet<string> = new Set<keyof EntryOAuth>([
  'metadataUrl',
  'authorizationUrl',
  'tokenUrl',
]);

/** Problems that only the values can show. */
function unusableFields(config: ServerConfig): readonly string[] {
  const unusable: string[] = [];
  const check = (path: Path, message: string | undefined) => {
    if (message !== undefined) unusable.push(`'${fieldName(path)}': ${message}`);
  };
  if ('command' in config && config.command === '')
    check(['command'], 'is empty once its variables are replaced');
  if ('url' in config) {
    check(['url'], urlProblem(config.url)?.message);
    for (const [header, value] of Object.entries(config.headers ?? {})) {
      check(['headers', header], headerValueProblem(value)?.message);
    }
    for (const [name, value] of Object.entries(config.oauth || {})) {
      if (OAUTH_ADDRESSES.has(name)) check(['oauth', name], urlProblem(String(value))?.message);
    }
  }
  return unusable;
}

function invalid(server: string, reasons: readonly string[]): { readonly failure: RawFailure } {
  const message = `The entry of server '${printable(server)}' cannot be used: ${reasons.join('; ')}`;
  return { failure: { code: 'config-invalid', message } };
}

const SET_IT =
  'Set it before the host starts, or give a default: ${NAME:-value}. A literal $NAME is written $$NAME.';
const PUT_IT_IN_ENV = "On this host, a header can only use the entry's own 'env': put it there.";

function missingVariables(
  server: string,
  missing: readonly string[],
  headers: ExpansionOptions['headers'],
): { readonly failure: RawFailure } {
  const isOfHeader = headers === 'own-env' && missing.some((variable) => variable.includes("(in 'headers."));
  const [noun, verb] = missing.length === 1 ? ['a variable', 'is'] : ['variables', 'are'];
  return {
    failure: {
      code: 'variable-missing',
      message: `Server '${printable(server)}' needs ${noun} that ${verb} not set: ${missing.join(', ')}`,
      hint: isOfHeader ? PUT_IT_IN_ENV : SET_IT,
    },
  };
}

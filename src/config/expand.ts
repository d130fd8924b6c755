/**
 * Puts values in the place of variables, for one attempt to start one server.
 *
 * E1. Pure, and asked afresh for every attempt, so that rotated credentials are picked up.
 * E2. A value goes in as it is: it is never read as a template, and no `~` in it means the home folder.
 * E3. A failure names server, field and variable, and holds no value.
 * E4. What comes out is ready to use: absolute working directory, valid address and headers.
 */
import { resolve } from 'node:path';
import type { ServerConfig } from '../options.js';
import type { RawFailure } from '../transports/session-transport.js';
import { mapTexts, type TextField } from './entry-texts.js';
import { headerValueProblem, urlProblem } from './http-fields.js';
import type { ServerSpec } from './merge.js';
import { fieldName, printable, type Path } from './problem.js';
import { hostVariables, parseTemplate, renderTemplate, type Variable } from './template.js';

export interface ExpansionContext {
  /** The host's variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Stands for `${workspaceFolder}`; without it, that reference is missing like any other. */
  readonly workspaceFolder?: string;
  /** Stands for a leading `~` in command, args and cwd. */
  readonly home: string;
  /** What becomes of a variable that is not set and has no default. Default `error`. */
  readonly missing?: 'error' | 'empty';
}

export type Expansion = { readonly config: ServerConfig } | { readonly failure: RawFailure };

/** The entry as it is to be started, or why it cannot be. Never throws. */
export function expandConfig(
  spec: Pick<ServerSpec, 'name' | 'baseDir' | 'config'>,
  context: ExpansionContext,
): Expansion {
  const { name, baseDir, config } = spec;
  const missing: string[] = [];
  const refused: string[] = [];
  const lookUp = ({ origin, name: variable }: Variable) =>
    origin === 'builtin' ? context.workspaceFolder : own(context.env, variable);
  const expanded = mapTexts(config, (text, field) => {
    const template = parseTemplate(afterHome(text, field), field.shellLike);
    if ('problem' in template) {
      refused.push(`'${fieldName(field.path)}': ${template.problem}`);
      return '';
    }
    const value = renderTemplate(template.parts, lookUp, (variable) => {
      missing.push(`${variable.name} (in '${fieldName(field.path)}')`);
    });
    return startsAtHome(text, field) ? `${context.home}${value}` : value;
  });
  if (refused.length > 0) return invalid(name, refused);
  if (missing.length > 0 && context.missing !== 'empty') return missingVariables(name, missing);
  const unusable = unusableFields(expanded);
  if (unusable.length > 0) return invalid(name, unusable);
  if (!('command' in expanded)) return { config: expanded };
  return { config: { ...expanded, cwd: resolve(baseDir, expanded.cwd ?? '') } };
}

/** Sorted names of the host's variables an entry refers to; `*` where the child would inherit all of them. */
export function variablesWanted(config: ServerConfig): readonly string[] {
  const names = new Set<string>();
  mapTexts(config, (text, { shellLike }) => {
    const template = parseTemplate(text, shellLike);
    if ('parts' in template) for (const name of hostVariables(template.parts)) names.add(name);
    return text;
  });
  const inherited = 'command' in config ? (config.inheritEnv ?? []) : [];
  if (inherited === true) names.add('*');
  else if (inherited !== false) for (const name of inherited) names.add(name);
  return [...names].toSorted();
}

function own(env: ExpansionContext['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** `~` counts where the text as written begins with it as a whole folder name; `~other` is left alone. */
function startsAtHome(text: string, { shellLike }: TextField): boolean {
  return shellLike && /^~(?=$|[/\\])/.test(text);
}

function afterHome(text: string, field: TextField): string {
  return startsAtHome(text, field) ? text.slice(1) : text;
}

/** What only the values can show. */
function unusableFields(config: ServerConfig): readonly string[] {
  const unusable: string[] = [];
  const check = (path: Path, problem: string | undefined) => {
    if (problem !== undefined) unusable.push(`'${fieldName(path)}': ${problem}`);
  };
  if ('command' in config && config.command === '')
    check(['command'], 'is empty once its variables are replaced');
  if ('url' in config) {
    check(['url'], urlProblem(config.url));
    for (const [header, value] of Object.entries(config.headers ?? {})) {
      check(['headers', header], headerValueProblem(value));
    }
  }
  return unusable;
}

function invalid(server: string, reasons: readonly string[]): { readonly failure: RawFailure } {
  const message = `The entry of server '${printable(server)}' cannot be used: ${reasons.join('; ')}`;
  return { failure: { code: 'config-invalid', message } };
}

function missingVariables(server: string, missing: readonly string[]): { readonly failure: RawFailure } {
  const [noun, verb] = missing.length === 1 ? ['a variable', 'is'] : ['variables', 'are'];
  return {
    failure: {
      code: 'variable-missing',
      message: `Server '${printable(server)}' needs ${noun} that ${verb} not set: ${missing.join(', ')}`,
      hint: 'Set it before the host starts, or give a default: ${NAME:-value}. A literal $NAME is written $$NAME.',
    },
  };
}

/**
 * Which of the variables that an entry sets, and which answers of a person, decide what it runs. A person must see their
 * values, whatever their names suggest. Pure.
 */
import { mapTexts, type TextField } from '../config/entry/entry-texts.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import { parseTemplate, textsIn, variablesIn, type Part, type Variable } from '../config/entry/template.js';
import { isSecret, suggestsSecret } from '../secrets/is-secret.js';
import { decidesWhatRuns } from './deciding-variables.js';

export interface DecidingNames {
  /** Names of variables in the entry's own `env`. */
  readonly variables: ReadonlySet<string>;
  /** Ids of inputs. */
  readonly inputs: ReadonlySet<string>;
}

/**
 * Those in the command, the folder, the files that are loaded, code and arguments; those that such a variable refers to; and
 * those in the value of a variable such as `NODE_OPTIONS`. An argument that is the value of an option for a secret, such as
 * `--token=${TOKEN}`, counts only if the value has not the form of a secret: it may be an option or a path.
 */
export function decidingNames(
  config: ServerConfig,
  defaults: ReadonlyMap<string, string> = new Map(),
): DecidingNames {
  const env = 'server' in config ? {} : (config.env ?? {});
  const args = 'command' in config ? (config.args ?? []) : [];
  const variables = new Set<string>();
  const inputs = new Set<string>();
  const byUpper = new Map(Object.keys(env).map((name) => [name.toUpperCase(), name]));
  const own = (name: string): string | undefined => (Object.hasOwn(env, name) ? env[name] : undefined);
  const add = (first: Variable): void => {
    const left = [first];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      const { origin, name } = next;
      if (origin === 'input') inputs.add(name.slice(INPUT.length));
      const text = origin === 'host' && !variables.has(name) ? own(name) : undefined;
      if (text === undefined) continue;
      variables.add(name);
      for (const variable of variablesIn(parseTemplate(text, 'plain'))) left.push(variable);
    }
  };
  const valueOf = ({ origin, name }: Variable): string | undefined =>
    origin === 'input' ? defaults.get(name.slice(INPUT.length)) : own(name);
  mapTexts(config, (text, field) => {
    const parts = parseTemplate(text, field.syntax);
    const before = field.path[0] === 'args' ? args[Number(field.path[1]) - 1] : undefined;
    if (!decides(field)) return text;
    for (const [variable, prefix] of variablesWithPrefix(parts)) {
      if (!isValueForSecret(variable, { prefix, before, value: valueOf(variable) })) add(variable);
    }
    for (const word of mentioned(parts, field)) {
      const name = byUpper.get(word.toUpperCase());
      if (name !== undefined) add({ ...HOST_VARIABLE, name });
    }
    return text;
  });
  return { variables, inputs };
}

const INPUT = 'input:';

const HOST_VARIABLE = { kind: 'variable', origin: 'host', fallback: undefined, isBare: false } as const;

const FIELDS: ReadonlySet<unknown> = new Set('command args cwd envFile headersHelper ca cert key'.split(' '));

function decides({ path }: TextField): boolean {
  const [field, name] = path;
  return FIELDS.has(field) || (field === 'env' && typeof name === 'string' && decidesWhatRuns(name));
}

/** Names that a shell or an interpreter may read from the text: `$NAME`, `%NAME%`, `process.env.NAME`. In code, every word. */
function mentioned(parts: readonly Part[], { syntax }: TextField): readonly string[] {
  const names = syntax === 'code' ? /[A-Za-z_]\w*/g : /(?<=\$|\$\{|%|!|\benv[.:])[A-Za-z_]\w*/gi;
  return textsIn(parts).flatMap((text) => text.match(names) ?? []);
}

/** Every variable with the text right before it. */
function variablesWithPrefix(parts: readonly Part[]): readonly (readonly [Variable, string])[] {
  return parts.flatMap((part, index) => {
    const before = parts[index - 1];
    const prefix = before?.kind === 'text' ? before.text : '';
    return variablesIn([part]).map((variable) => [variable, prefix] as const);
  });
}

interface Use {
  /** The text right before. */
  readonly prefix: string;
  /** The argument before. */
  readonly before: string | undefined;
  readonly value: string | undefined;
}

/** The value of an option or a header for a secret, which has the form of one. */
function isValueForSecret({ name }: Variable, { prefix, before, value }: Use): boolean {
  if (value === undefined || !mayBeToken(value)) return false;
  if (prefix !== '') return suggestsSecret(prefix) && isSecret([name], value);
  return before !== undefined && before.startsWith('-') && suggestsSecret(before) && isSecret([], value);
}

/** An option, a path, a script, an assignment or several words are no token. */
function mayBeToken(value: string): boolean {
  return !/^-|[\s/\\=]|\.(?:[cm]?[jt]sx?|py|sh|rb|pl|php|ps1|bat|cmd|exe|so|dll|dylib|jar)$/i.test(value);
}

/**
 * Which of the variables that an entry sets, and which answers of a person, decide what it runs. A person must see their
 * values, whatever their names suggest. Pure.
 */
import { mapTexts, type TextField } from '../config/entry/entry-texts.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import { parseTemplate, textsIn, variablesIn, type Part, type Variable } from '../config/entry/template.js';
import { isSecret, suggestsSecret } from '../secrets/is-secret.js';

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

// The variables that decide which code a program runs, whatever its command line says: where programs and libraries are
// found, what an interpreter loads first, and where a package manager downloads from. Names are compared without regard to
// case, as Windows and npm do.

const NAMES: ReadonlySet<string> = new Set(
  `PATH PATHEXT COMSPEC SHELL SHELLOPTS BASHOPTS BASH_ENV ENV ZDOTDIR IFS PS4 PROMPT_COMMAND CDPATH HOME USERPROFILE
  APPDATA LOCALAPPDATA SYSTEMROOT WINDIR TMPDIR TMP TEMP PWD CLASSPATH EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN
  LESSCLOSE PHPRC PHP_INI_SCAN_DIR VIRTUAL_ENV GOFLAGS GOPROXY GOROOT GOPATH GOBIN GOENV GOTOOLCHAIN GONOSUMDB GOINSECURE
  GCONV_PATH GETCONF_DIR LOCPATH NLSPATH MALLOC_CHECK_ OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES SSL_CERT_FILE
  SSL_CERT_DIR CURL_CA_BUNDLE REQUESTS_CA_BUNDLE HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY TERMINFO TERMINFO_DIRS
  JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS JAVA_HOME MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS SBT_OPTS
  DOTNET_STARTUP_HOOKS ELECTRON_RUN_AS_NODE NIX_PATH RSYNC_RSH HOSTALIASES AWS_CONFIG_FILE KUBECONFIG`.split(
    /\s+/,
  ),
);

const PREFIXES =
  /^(?:LD_|DYLD_|NODE_|TS_NODE_|TSX_|NPM_|PNPM_|YARN_|BUN_|DENO_|COREPACK_|VOLTA_|NVM_|FNM_|PYTHON|PYENV_|UV_|PIP_|PIPX_|PDM_|POETRY_|CONDA_|MAMBA_|RUBY|GEM_|BUNDLE_|RBENV_|PERL|LUA_|CARGO_|RUST|JAVA_|GRADLE_|DOTNET_|CORECLR_|COMPLUS_|COR_|NUGET_|GIT_|SSH_|DOCKER_|COMPOSE_|CONTAINER_|PODMAN_|BASH_FUNC_|XDG_|R_|ASDF_|MISE_|DIRENV_|QT_|GTK_|GIO_|GUILE_|JULIA_|ERL_|ELIXIR_|MIX_|PHP_)/;

/** Whether the value of this variable decides what is run. */
export function decidesWhatRuns(name: string): boolean {
  const upper = name.toUpperCase();
  return (NAMES.has(upper) || PREFIXES.test(upper)) && !CREDENTIAL.test(name);
}

/** The settings of package managers and of Git that hold a credential and nothing else. */
const CREDENTIAL = /(?:^|[_:])_?(?:auth|auth_?token|password|passphrase|otp|publish_token)$/i;

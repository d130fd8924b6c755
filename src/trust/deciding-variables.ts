/**
 * The variables that decide which code a program runs, whatever its command line says: where programs and libraries are
 * found, what an interpreter loads first, and where a package manager downloads from. Names are compared without regard to
 * case, as Windows and npm do.
 */

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

/** What a person sees of an entry before they decide whether it may run, and the policy that can decide instead. */

/** What a person or the host is asked before an entry of a project file may run. Holds no value of a variable. */
export interface TrustRequest {
  /** Name of the server. */
  readonly server: string;
  /** The file that names it. */
  readonly source: string;
  /** Absolute path of the folder that relative paths of the entry start from. */
  readonly folder: string;
  /** How it would be reached. */
  readonly transport: 'stdio' | 'http' | 'sse';
  /** The command as it is written, not expanded. */
  readonly command?: string;
  /** The arguments as they are written, but with variables from the entry's own `env` replaced unless they may be secrets. */
  readonly args?: readonly string[];
  /** The working directory as it is written, not expanded. */
  readonly cwd?: string;
  /** The file with further variables for the program, as it is written. */
  readonly envFile?: string;
  /** The URL as it is written, not expanded; credentials and values of the query are masked. */
  readonly url?: string;
  /** Names of the headers that would be sent with every request. */
  readonly headers?: readonly string[];
  /** Names of the headers that a gateway would pass on from its clients. */
  readonly forwardHeaders?: readonly string[];
  /** The proxy of the entry as it is written, not expanded; credentials are masked. */
  readonly proxy?: string;
  /** The files of `ca`, `cert` and `key` as they are written, not expanded. */
  readonly certificates?: readonly string[];
  /** The command that prints additional headers, as it is written. */
  readonly headersHelper?: string;
  /** Names of the host's variables the entry wants to read; `*` for all of them. */
  readonly variables: readonly string[];
  /** Names of the variables the entry sets; some, such as `LD_PRELOAD`, make a program run other code. */
  readonly env: readonly string[];
  /** Ids of the answers of a person that the entry wants. */
  readonly asks?: readonly string[];
  /** Values that the file proposes for inputs of the entry, by id. They are used if no person is asked. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** Hash of name, folder and entry; trust is bound to it. */
  readonly hash: string;
}

/**
 * `all` trusts every entry. `remote-only` trusts every HTTP and SSE entry that runs no `headersHelper` and has no socket,
 * proxy or certificates of its own. A function is asked before each attempt to start an entry, until it says yes.
 */
export type TrustPolicy = 'all' | 'remote-only' | ((request: TrustRequest) => Promise<boolean> | boolean);

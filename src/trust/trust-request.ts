/** What a person sees of an entry before they decide whether it may run, and the policy that can decide instead. */
import type { PrivateNetwork } from './asked-address.js';

/** What a person or the host is asked before an entry of a project file is used. Holds no value of a variable of the host. */
export interface TrustRequest {
  /** Name of the server. */
  readonly server: string;
  /** The file that names it. */
  readonly source: string;
  /** Absolute path, without links, of the folder in which the entry starts. */
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
  /** Whether daemons of the program keep running after it. */
  readonly keepDaemons?: boolean;
  /** The URL as it is written, not expanded; credentials and values of the query are masked. */
  readonly url?: string;
  /** Set if the address leads to this computer or into a private network. */
  readonly network?: PrivateNetwork;
  /** The addresses that the entry names for its sign-in, as they are written, but with variables from its own `env` replaced; credentials are masked. */
  readonly signIn?: readonly string[];
  /** The port of this computer that the sign-in redirects to. */
  readonly callbackPort?: number;
  /** Names of the headers that would be sent with every request. */
  readonly headers?: readonly string[];
  /** Names of the headers that a gateway would pass on from its clients. */
  readonly forwardHeaders?: readonly string[];
  /** The proxy of the entry as it is written, but with variables from its own `env` replaced; credentials are masked. */
  readonly proxy?: string;
  /** The files of `ca`, `cert` and `key` as they are written, but with variables from the entry's own `env` replaced. */
  readonly certificates?: readonly string[];
  /** The command that prints additional headers, as it is written. */
  readonly headersHelper?: string;
  /** Names of the host's variables the entry wants to read; `*` for all of them. */
  readonly variables: readonly string[];
  /**
   * The variables that the entry sets, by name, with their values as they are written, not expanded; null for a value that
   * may be a secret. The values of variables that decide what is run are never null: of `NODE_OPTIONS`, `PATH` and the like, and of those
   * that reach the command, its arguments or code, other than as the value of an option for a secret.
   */
  readonly env: Readonly<Record<string, string | null>>;
  /** Ids of the answers of a person that the entry wants. */
  readonly asks?: readonly string[];
  /** Values that the file proposes for inputs of the entry, by id. They are used if no person is asked. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** With the policy `contents`: the SHA-256 of each file that the entry runs, by its path without links. */
  readonly contents?: Readonly<Record<string, string>>;
  /** Hash of name, folder and entry, and of `contents` if there are any; trust is bound to it. */
  readonly hash: string;
}

/**
 * Which entries of a project's files need no trust. `all`: every entry. `remote-only`: HTTP and SSE entries that run no
 * `headersHelper` and have no socket, proxy or certificates of their own. `programs-only`: of these, only the ones that
 * use no variable of the host and no answer of a person. `contents`: no entry, and trust is bound to the contents of its
 * program and of its arguments that are files as well, so a changed script must be trusted again. A function is called
 * before each attempt to start an entry, until it returns true. An entry that is used without being trusted never signs
 * in, except with `all`.
 */
export type TrustPolicy =
  | 'all'
  | 'remote-only'
  | 'programs-only'
  | 'contents'
  | ((request: TrustRequest) => Promise<boolean> | boolean);

/**
 * What a host may say: the options of `createTroupe` and the shape of one server's entry.
 * Defaults of the connection's numbers are in `machines/policy/policy.ts`; the rest are the constants below.
 */
import type { Implementation, ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { ConnectionPolicy } from '../machines/policy/policy.js';
import type { Clock, Logger } from './ports.js';

/** Troupe's own settings, allowed in every entry beside what `.mcp.json` files hold. */
export interface ServerSettings {
  /** `false` makes no connection; the status row reads stopped, reason `disabled`. Default true. */
  readonly enabled?: boolean;
  /** Which of the server's tools are shown. `*` is a wildcard; deny wins over allow. */
  readonly tools?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
  /**
   * `lazy` rests until the first use, once its tools are known: it is started once to learn them, and stopped again
   * after `idleStopMs`. Default `eager`.
   */
  readonly start?: 'eager' | 'lazy';
  /** Idle milliseconds after which the server is stopped until the next use. Default 0: never. */
  readonly idleStopMs?: number;
  /** Milliseconds for launch, handshake and list, each. 0 = no limit. Default 30,000. */
  readonly timeout?: number;
  /** Milliseconds a call may go without progress. 0 = no limit. Default 60,000. */
  readonly callTimeout?: number;
  /** Overrides of single numbers of the connection policy. */
  readonly policy?: PolicyOverrides;
}

/** A server run as a child process that speaks on stdin and stdout. */
export interface StdioServerConfig extends ServerSettings {
  /** May be left out: an entry with a `command` is stdio. */
  readonly type?: 'stdio';
  /** The program to run: a path, or a name that is looked up in `PATH`. `${VAR}` is expanded. */
  readonly command: string;
  /** Handed to the program as they are, without a shell. `${VAR}` is expanded. Default none. */
  readonly args?: readonly string[];
  /** Added to the short allow-list of the host's variables that every child gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory. Default: the project's folder for an entry found in a project, else the host's working directory. */
  readonly cwd?: string;
  /** `true` hands on the host's whole environment, a list the named variables. Default false. */
  readonly inheritEnv?: boolean | readonly string[];
}

/** A server reached over HTTP. Without `type`: streamable HTTP, falling back to SSE where the server refuses with 4xx. */
export interface HttpServerConfig extends ServerSettings {
  /** `http` is streamable HTTP only, `sse` the older transport only. */
  readonly type?: 'http' | 'sse';
  /** Where the server is reached. `${VAR}` is expanded. */
  readonly url: string;
  /** Sent with every request. `${VAR}` is expanded. Default none. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server object of this process, connected in memory. Recognised by shape, not by class. */
export interface InProcessServerConfig extends ServerSettings {
  /** Always given: it tells this entry from the others. */
  readonly type: 'in-process';
  /** An `McpServer` or a `Server` of the SDK, or whatever else has its `connect`. */
  readonly server: { connect(transport: never): Promise<void> };
}

export type ServerConfig = StdioServerConfig | HttpServerConfig | InProcessServerConfig;

/** Any subset of the policy, one level deep. */
export type PolicyOverrides = {
  readonly [K in keyof ConnectionPolicy]?: ConnectionPolicy[K] extends number
    ? number
    : K extends 'backoff'
      ? ConnectionPolicy[K] | readonly number[]
      : Partial<ConnectionPolicy[K]>;
};

export type NamingTemplate =
  'mcp__{server}__{tool}' | 'mcp_{server}_{tool}' | 'mcp__{server}_{tool}' | '{tool}';

/** What a person or the host is asked before an entry of a project file may run. Holds no value of a variable. */
export interface TrustRequest {
  /** Name of the server. */
  readonly server: string;
  /** The file that names it. */
  readonly source: string;
  /** How it would be reached. */
  readonly transport: 'stdio' | 'http' | 'sse';
  /** The command as it is written, not expanded. */
  readonly command?: string;
  /** The arguments as they are written, not expanded. */
  readonly args?: readonly string[];
  /** The URL as it is written, not expanded. */
  readonly url?: string;
  /** Names of the host's variables the entry wants to read. */
  readonly variables: readonly string[];
  /** Hash of the entry; an approval is bound to it. */
  readonly hash: string;
}

/** `all` trusts every entry, `remote-only` every HTTP and SSE one; a function is asked for each entry once per attempt. */
export type TrustPolicy = 'all' | 'remote-only' | ((request: TrustRequest) => Promise<boolean> | boolean);

export interface TroupeOptions {
  /** Servers by name. Trusted, since the host itself names them. */
  readonly servers?: Readonly<Record<string, ServerConfig>>;
  /** Configuration files. Trusted, since the host itself names them. */
  readonly config?: string | readonly string[];
  /** Sent as `clientInfo` in every handshake. Default: this package's name and version. */
  readonly clientInfo?: Implementation;
  /** Declared in every handshake. Default `{}`. */
  readonly capabilities?: ClientCapabilities;
  /** Overrides of the connection policy for every server; an entry's own win. */
  readonly policy?: PolicyOverrides;
  /** Who decides about entries of project files. Default: none of them that needs approval starts; it waits in `awaitingTrust`. */
  readonly trust?: TrustPolicy;
  /** How tools are named for the model. Default `mcp__{server}__{tool}`. */
  readonly naming?: NamingTemplate;
  /** stdio servers that may start at the same time. Default: 2 × cores, at least 4. */
  readonly startSlots?: number;
  /** Most milliseconds `start()` waits for first attempts. Default 10,000. */
  readonly startGateMs?: number;
  /** Base of expansion for `${VAR}`. Default: this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The time that everything goes by. Default: the system's. */
  readonly clock?: Clock;
  /** Seed of every jitter; the same seed gives the same delays. Default: taken from the clock once. */
  readonly seed?: number;
  /** Hears what no observer was there to hear. Default: silent. */
  readonly logger?: Logger;
}

/** Longest a call may go without an answer and without progress, milliseconds. */
export const DEFAULT_CALL_TIMEOUT_MS = 60_000;
/** Longest `start()` waits for first attempts, milliseconds. */
export const DEFAULT_START_GATE_MS = 10_000;
/** How tools are named for the model. */
export const DEFAULT_NAMING: NamingTemplate = 'mcp__{server}__{tool}';
/** Longest a starting server holds a start slot; one that merely does not answer must not starve the rest. Milliseconds. */
export const SLOT_HOLD_MS = 500;

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
  /** `lazy` starts nothing until the first use. Default `eager`. */
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
  readonly type?: 'stdio';
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the short allow-list of the host's variables that every child gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory. Default: the folder of the file that names the server, else the host's. */
  readonly cwd?: string;
  /** `true` hands on the host's whole environment, a list the named variables. Default false. */
  readonly inheritEnv?: boolean | readonly string[];
}

/** A server reached over HTTP. Without `type`: streamable HTTP, falling back to SSE where the server refuses with 4xx. */
export interface HttpServerConfig extends ServerSettings {
  readonly type?: 'http' | 'sse';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server object of this process, connected in memory. Recognised by shape, not by class. */
export interface InProcessServerConfig extends ServerSettings {
  readonly type: 'in-process';
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
  readonly server: string;
  readonly source: string;
  readonly transport: 'stdio' | 'http' | 'sse';
  readonly command?: string;
  readonly args?: readonly string[];
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
  readonly trust?: TrustPolicy;
  /** How tools are named for the model. Default `mcp__{server}__{tool}`. */
  readonly naming?: NamingTemplate;
  /** stdio servers that may start at the same time. Default: 2 × cores, at least 4. */
  readonly startSlots?: number;
  /** Most milliseconds `start()` waits for first attempts. Default 10,000. */
  readonly startGateMs?: number;
  /** Base of expansion for `${VAR}`. Default: this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  /** Seed of every jitter; the same seed gives the same delays. Default: taken from the clock once. */
  readonly seed?: number;
  readonly logger?: Logger;
}

export const DEFAULT_CALL_TIMEOUT_MS = 60_000;
export const DEFAULT_START_GATE_MS = 10_000;
export const DEFAULT_NAMING: NamingTemplate = 'mcp__{server}__{tool}';
/** Longest a starting server holds a start slot; one that merely does not answer must not starve the rest. */
export const SLOT_HOLD_MS = 250;

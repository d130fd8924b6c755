/** The entry of one server, as a host or a configuration file declares it, and where the values of its inputs come from. */
import type { MessageLimits } from '../../json/parse-json.js';
import type { RetryCalls } from '../../../machines/policy/call-safety.js';
import type { ConnectionPolicy } from '../../../machines/policy/policy.js';

/** Which clients of a gateway share a connection to a server. */
export type Isolation = 'per-session' | 'shared';

/** Which versions of the protocol may be used with a server. */
export type ProtocolChoice = 'auto' | 'old' | 'new';

/** Troupe's own settings, allowed in every entry in addition to the fields of `.mcp.json` files. */
export interface ServerSettings {
  /** `false` starts no connection; the status is `stopped` with the reason `disabled`. Default true. */
  readonly enabled?: boolean;
  /** Which of the server's tools to show, and how. `*` is a wildcard; deny takes precedence over allow. */
  readonly tools?: {
    /** Names of the tools to show. Default: all. */
    readonly allow?: readonly string[];
    /** Names of the tools to hide. Default: none. */
    readonly deny?: readonly string[];
    /** Names of the tools that a model is always offered, even if it has to search for the others. Default: none. */
    readonly pinned?: readonly string[];
    /** Name of the group in which a model can search for the server's tools. Default: the name of the server. */
    readonly group?: string;
  };
  /**
   * `lazy` starts the server with its first use, once its tools are known. To learn them, it is started once and
   * stopped again after `idleStopMs`. Default `eager`.
   */
  readonly start?: 'eager' | 'lazy';
  /** Idle milliseconds after which the server is stopped until the next use. Default 0: never. */
  readonly idleStopMs?: number;
  /** Milliseconds for each of launch, handshake and list. 0 = no limit. Default 30,000. */
  readonly startTimeoutMs?: number;
  /** Milliseconds that a call may take without progress. 0 = no limit. Default 60,000. */
  readonly callTimeoutMs?: number;
  /** Maximum number of tool calls at the same time; further ones wait for their turn, in order. Default 0: no limit. */
  readonly maxConcurrentCalls?: number;
  /** Whether to repeat calls that were lost with their connection. Default: `retryCalls` of the troupe. */
  readonly retryCalls?: RetryCalls;
  /**
   * How much one message and one list of the server may hold, and how many events it may cause. Default, for each number:
   * `limits` of the troupe.
   */
  readonly limits?: MessageLimits;
  /**
   * Which versions of MCP are used with the server. `old`: up to 2025-11-25, with a session. `new`: 2026-07-28, without
   * one. `auto` finds out: over HTTP, a server is asked in the new version first, otherwise in an old one, and in the other
   * if it refuses; what it speaks is remembered. Default `auto`.
   */
  readonly protocol?: ProtocolChoice;
  /**
   * For a gateway with several clients. `per-session`: each client has its own connection. `shared`: all clients share
   * one, and a request of the server goes to the client that caused it, or is refused. Default: a client that can
   * answer requests of servers has its own connection, and the others share one.
   */
  readonly isolation?: Isolation;
  /** Overrides of single numbers of the connection policy. */
  readonly policy?: PolicyOverrides;
}

/** A server that runs as a child process and communicates over stdin and stdout. */
export interface StdioServerConfig extends ServerSettings {
  /** Optional: an entry with a `command` is stdio. */
  readonly type?: 'stdio';
  /** The program to run: a path, or a name that is looked up in `PATH`. `${VAR}` is expanded. */
  readonly command: string;
  /**
   * Passed to the program as they are, without a shell. `${VAR}` is expanded to a variable of the entry's own
   * `env`, or else of the host. In code for a shell or an interpreter, such as the text after `sh -c`, only
   * `${input:ID}` and the folders are expanded. Default none.
   */
  readonly args?: readonly string[];
  /** Added to the short allow-list of the host's variables that every child gets. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * A file with `NAME=value` lines: further variables for the program. `env` takes precedence. Relative to the file of
   * the entry, or to its project. Read at every start. Default none.
   */
  readonly envFile?: string;
  /**
   * Working directory, relative to the default. `${workspaceFolder}` is the folder in which the host works. Default: the
   * project's folder for an entry of a project; for an entry of a file that was named, the host's working directory if the
   * file is in it, or else the folder of the file; for any other entry the home folder.
   */
  readonly cwd?: string;
  /** `true` passes on the host's whole environment, a list only the named variables. Default false. */
  readonly inheritEnv?: boolean | readonly string[];
  /**
   * `true` leaves daemons of the server running when the server or the host ends: processes that have left its process group
   * and lost their parent, such as a shared `adb`. If the guard was killed as well, a server that ignores the end of its
   * input then stays too. Default false: they end with the server. macOS and Windows never find them.
   */
  readonly keepDaemons?: boolean;
  /**
   * `fleet`: of all hosts of the fleet that have an entry with this name, one runs the program, and the others use it there. The
   * program gets `TROUPE_FENCE`, a text that grows from one holder to the next. Needs the option `fleet`; without it the server
   * fails. Default: each host runs its own.
   */
  readonly only?: 'fleet';
}

/** A server that is reached over HTTP. Without `type`: streamable HTTP, then SSE if the server refuses with 4xx. */
export interface HttpServerConfig extends ServerSettings {
  /** `http` is streamable HTTP only, `sse` the older transport only. */
  readonly type?: 'http' | 'sse';
  /**
   * Address of the server. `${VAR}` is expanded. `unix:///path/to.sock#/request` and, on Windows, `pipe:///pipe/name#/request`
   * connect to a socket on this computer.
   */
  readonly url: string;
  /** Sent with every request. `${VAR}` is expanded. Default none. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Names of headers that a gateway passes on: if the HTTP request of a client has one, the request to this server for that
   * call has it too, in place of the same header in `headers`. Not for credentials, nor for headers of the connection, the
   * content or the protocol. Default none.
   */
  readonly forwardHeaders?: readonly string[];
  /**
   * `false` opens no stream for messages that the server sends on its own, such as changes of its lists; for servers that
   * handle one request at a time. Default true. Even then, the stream stays closed if the server answers nothing while it
   * is open, or forgets the session.
   */
  readonly listen?: boolean;
  /**
   * Address of the proxy for this server and its sign-in; `false` uses none. `${VAR}` is expanded. Default: `network` of the
   * troupe, then `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
   */
  readonly proxy?: string | false;
  /** PEM files with certificates of additional authorities. `${VAR}` is expanded. Default: only the authorities that Node trusts. */
  readonly ca?: string | readonly string[];
  /** PEM file with the client certificate, for a server that asks for one. `${VAR}` is expanded. Default: none. */
  readonly cert?: string;
  /** PEM file with the private key for `cert`. `${VAR}` is expanded. Default: the file of `cert`, which can hold both. */
  readonly key?: string;
  /**
   * Values for `${NAME}` in `url`, `headers` and `oauth`, used before the host's variables, and variables for
   * `headersHelper`. They are not sent anywhere else.
   */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * A shell command that prints headers as a JSON object. A printed header replaces the header of the same name in
   * `headers`. The command runs before each connection, and again if the server refuses the headers with 401 or 403. Its
   * time limit is 10 seconds. It needs trust, like a program. Default none.
   */
  readonly headersHelper?: string;
  /** Variables of the host that `headersHelper` gets, as for a program. Default false. */
  readonly inheritEnv?: boolean | readonly string[];
  /** How to sign in to this server; overrides the option `auth`. `false` means that Troupe does not sign in. */
  readonly oauth?: EntryOAuth | false;
}

/** A client that is registered with an authorization server, and what to request from it. `${VAR}` is expanded in each text. */
export interface EntryOAuth {
  /** The id that the authorization server gave to the client. Default: Troupe registers itself. */
  readonly clientId?: string;
  /** Sent to the authorization server that the entry names, or else to the one that the server names. Default: a public client. */
  readonly clientSecret?: string;
  /** Scopes to request, separated by spaces. Default: the scopes that the server names. */
  readonly scope?: string;
  /**
   * A name of your choice for the account, if entries with the same address are to use different accounts: each name has
   * its own tokens and its own registered client. Default: the account of all entries without a name.
   */
  readonly account?: string;
  /** The registered port of `http://localhost:PORT/callback`. Default: any free port of 127.0.0.1. */
  readonly callbackPort?: number;
  /**
   * The registered address that the browser is redirected to. Troupe listens there if it is `http:` on this machine; without
   * a port, at any free one.
   */
  readonly redirectUrl?: string;
  /** Address of the authorization server's metadata. Default: the address that the server names. */
  readonly metadataUrl?: string;
  /** The address for the sign-in, used in place of metadata. Needs `tokenUrl`. */
  readonly authorizationUrl?: string;
  /** The address for tokens, used in place of metadata. Needs `authorizationUrl`. */
  readonly tokenUrl?: string;
}

/** An `McpServer` or a `Server` of the SDK, or any other object with its `connect`. */
export interface InProcessServer {
  /**
   * Connects the server to Troupe's end of an in-memory transport.
   *
   * @param transport The server's end, which has not been started. One for each session.
   */
  connect(transport: never): Promise<void>;
}

/** A server object of this process, connected in memory. Recognised by shape, not by class. */
export interface InProcessServerConfig extends ServerSettings {
  /** Required, since it distinguishes this entry from the others. */
  readonly type: 'in-process';
  /** The server. */
  readonly server: InProcessServer;
}
/** The entry of one server: a program, an address or an object of this process. */
export type ServerConfig = StdioServerConfig | HttpServerConfig | InProcessServerConfig;

/** Whether it runs once in the fleet. */
export function isOnlyOnce(config: ServerConfig): boolean {
  return 'command' in config && config.only === 'fleet';
}

/** Any subset of the policy, one level deep. */
export type PolicyOverrides = {
  readonly [K in keyof ConnectionPolicy]?: ConnectionPolicy[K] extends number | undefined
    ? number
    : K extends 'backoff'
      ? ConnectionPolicy[K] | readonly number[]
      : Partial<ConnectionPolicy[K]>;
};
/** Form of the names of tools for the model. `{tool}` alone requires names that are unique over all servers. */
export type NamingTemplate =
  'mcp__{server}__{tool}' | 'mcp_{server}_{tool}' | 'mcp__{server}_{tool}' | '{tool}';

/** Maximum time of a call without an answer or progress, milliseconds. */
export const DEFAULT_CALL_TIMEOUT_MS = 60000;

/** How tools are named for the model. */
export const DEFAULT_NAMING: NamingTemplate = 'mcp__{server}__{tool}';

/** A question to a person: the value of `${input:ID}` in an entry. */
export interface InputRequest {
  /** Name of the server. */
  readonly server: string;
  /** The source that names the server. */
  readonly source: string;
  /** The id of the input in the file: `${input:ID}`. */
  readonly id: string;
  /** The description in the file. */
  readonly description?: string;
  /** The default in the file. */
  readonly default?: string;
  /** The answers to choose from. */
  readonly options?: readonly string[];
  /** The answer is a secret and must not be shown. */
  readonly password: boolean;
}
/** How to expand variables in entries. */
export interface ExpansionOptions {
  /**
   * Source of the variables in headers. `host`: the entry's own `env`, then the host's variables. `own-env`:
   * only the entry's own `env`. Default `host`.
   */
  readonly headers?: 'own-env' | 'host';
  /**
   * How to treat a variable that is not set and has no default. `error`: the server fails and the failure
   * names the variable. `empty`: it becomes an empty text. Default `error`.
   */
  readonly missing?: 'error' | 'empty';
}

/**
 * Asks a person for a value; undefined means no answer.
 *
 * @param request The input, and the server and source that need it.
 */
export type AskInput = (request: InputRequest) => Promise<string | undefined> | string | undefined;

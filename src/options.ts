/**
 * What a host may say: the options of `createTroupe` and the shape of one server's entry.
 * Defaults of the connection's numbers are in `machines/policy/policy.ts`; the rest are the constants below.
 *
 * Longer than most because everything a host may say is here, with its documentation.
 */
import type { Implementation, ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import type { AuthOption } from './auth/auth-options.js';
import type { CatalogStore } from './catalog/cache-store.js';
import type { CatalogTool } from './catalog/registry.js';
import type { ApprovalStore } from './config/approval-store.js';
import type { RetryCalls } from '../machines/policy/call-safety.js';
import type { ConnectionPolicy } from '../machines/policy/policy.js';
import type { RecordTarget } from './event-log/record-options.js';
import type { Clock, Logger } from './ports.js';
import type { ReviewStore } from './review/review-store.js';
import type { ServerRequestHandlers } from './server-requests/handlers.js';

/** Which clients of a gateway have a connection to a server in common. */
export type Isolation = 'per-session' | 'shared';

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
  /** Tool calls that the server gets at the same time; further ones wait for their turn, in order. Default 0: no limit. */
  readonly maxConcurrentCalls?: number;
  /** Whether calls that were lost with their connection are repeated. Default: `retryCalls` of the troupe. */
  readonly retryCalls?: RetryCalls;
  /**
   * Of a gateway with several clients: `per-session` gives each a connection of its own, `shared` one to all of them, and
   * what the server asks goes to the client whose call was the cause, or is refused. Default: a client that answers what
   * servers ask has a connection of its own, the others share one.
   */
  readonly isolation?: Isolation;
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
  /** What `${NAME}` in `url` and `headers` stands for before the host's variable of that name. Sent nowhere by itself. */
  readonly env?: Readonly<Record<string, string>>;
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
  /** Absolute path of the folder that relative paths of the entry start from. */
  readonly folder: string;
  /** How it would be reached. */
  readonly transport: 'stdio' | 'http' | 'sse';
  /** The command as it is written, not expanded. */
  readonly command?: string;
  /** The arguments as they are written, not expanded. */
  readonly args?: readonly string[];
  /** The working directory as it is written, not expanded. */
  readonly cwd?: string;
  /** The URL as it is written, not expanded; credentials and values of the query are masked. */
  readonly url?: string;
  /** Names of the headers that would be sent with every request. */
  readonly headers?: readonly string[];
  /** Names of the host's variables the entry wants to read; `*` for all of them. */
  readonly variables: readonly string[];
  /** Names of the variables the entry sets; some, such as `LD_PRELOAD`, make a program run other code. */
  readonly env: readonly string[];
  /** Ids of the answers of a person that the entry wants. */
  readonly asks?: readonly string[];
  /** What the file proposes for answers the entry refers to, by id: used where nobody is asked. */
  readonly inputs?: Readonly<Record<string, string>>;
  /** Hash of name, folder and entry; an approval is bound to it. */
  readonly hash: string;
}

/** `all` trusts every entry, `remote-only` every HTTP and SSE one; a function is asked before each attempt to start an entry, until it says yes. */
export type TrustPolicy = 'all' | 'remote-only' | ((request: TrustRequest) => Promise<boolean> | boolean);

/** A configuration file, and whose it is. */
export interface ConfigFile {
  /** Absolute, or from the working directory. */
  readonly path: string;
  /**
   * `given`: the user pointed at it, so it is trusted. `project`: it came with a project, so its entries need approval,
   * and their paths start from its folder. Default `given`.
   */
  readonly scope?: 'given' | 'project';
}

/** An entry that was discovered, as it is written: no variable in it is replaced, and no secret masked. */
export interface FoundEntry {
  /** Name of the server. */
  readonly name: string;
  /** The entry as it is written, not expanded. */
  readonly config: ServerConfig;
}

/** Where an entry was discovered. */
export interface FoundSource {
  /** Which host's habit the file follows, such as `cursor`; of an extension, `extension`. */
  readonly kind: string;
  /** As a person would recognise it: the file, or the name of the extension. */
  readonly name: string;
  /** Whose it is: what a project's file names needs approval. */
  readonly scope: 'project' | 'user' | 'extension';
  /** Absolute path of the file. */
  readonly path?: string;
}

/** What is looked for beside the files and servers that the host names itself. */
export interface DiscoverChoice {
  /** Folder in which the search for the project begins, upwards. Default: the working directory. */
  readonly cwd?: string;
  /** Files of the project. Default true. */
  readonly project?: boolean;
  /** Files of the user: Troupe's own, and those of other hosts. Default true. */
  readonly user?: boolean;
  /** Servers that the host's extensions bring, by the name of the extension. They come last. Default none. */
  readonly extensions?: Readonly<Record<string, Readonly<Record<string, ServerConfig>>>>;
  /** `false` leaves an entry out; the start report and `discoverServers` give it back. Default: all are taken. */
  readonly filter?: (entry: FoundEntry, source: FoundSource) => boolean;
}

/** A question to a person: the value of `${input:ID}` in an entry. */
export interface InputRequest {
  /** Name of the server. */
  readonly server: string;
  /** The source that names the server. */
  readonly source: string;
  /** Of the input, as the file calls it: `${input:ID}`. */
  readonly id: string;
  /** What the file says about it. */
  readonly description?: string;
  /** What the file proposes. */
  readonly default?: string;
  /** The answers there are to choose from. */
  readonly options?: readonly string[];
  /** The answer is a secret and must not be shown. */
  readonly password: boolean;
}

export interface ExpansionOptions {
  /**
   * Where a variable in a header comes from. `host`: the entry's own `env`, then the host's variables. `own-env`: the
   * entry's own `env` alone. Default `host`.
   */
  readonly headers?: 'own-env' | 'host';
  /** What becomes of a variable that is not set and has no default: the server fails and names it, or nothing. Default `error`. */
  readonly missing?: 'error' | 'empty';
}

/**
 * What becomes of a tool that is other than what was approved, or that is new on a server that was seen before. Of a
 * server that was never seen, the first tools count as approved.
 *
 * `hold-changes` keeps it from the model, and calls to it are refused, until somebody approves it (`review.approve`).
 * `report` tells it as a `diagnostic`. `off` compares nothing.
 */
export type ReviewMode = 'off' | 'report' | 'hold-changes';

/** How tools are compared with what was approved: by title, description, schemas and annotations. */
export interface ReviewOptions {
  /** Default `report`. */
  readonly mode?: ReviewMode;
  /**
   * Remembers what was approved. `createFileReviewStore()` shares it with the `troupe` command and later runs. Default:
   * it is forgotten with the troupe.
   */
  readonly store?: ReviewStore;
}

/**
 * An observer of XState's inspection, such as `inspect` of an inspector of `@statelyai/inspect`. It hears of actors, events
 * and snapshots: copies, with secrets masked, by which no actor can be reached.
 */
export type MachineInspector = ((event: never) => void) | { readonly next?: (event: never) => void };

/** A tool, as a policy about approvals sees it. */
export type ToolInQuestion = Omit<CatalogTool, 'requiresApproval'>;

export interface TroupeOptions {
  /** Servers by name. Trusted, since the host itself names them. */
  readonly servers?: Readonly<Record<string, ServerConfig>>;
  /** Configuration files. Trusted, since the host itself names them, unless it says that one is the project's. */
  readonly config?: string | ConfigFile | readonly (string | ConfigFile)[];
  /** Whether to look for further servers in the usual files of the project, the user and other hosts. Default false. */
  readonly discover?: boolean | DiscoverChoice;
  /** How variables in entries are replaced. */
  readonly expansion?: ExpansionOptions;
  /** Asks a person for the value of `${input:ID}`; undefined is no answer. Each is asked for once. Default: nobody is there to ask. */
  readonly askInput?: (request: InputRequest) => Promise<string | undefined> | string | undefined;
  /**
   * Whether the files are watched and `reload` is called by itself when one of them changes. A file that cannot be read
   * at that moment takes nothing away and is tried again. Default false.
   */
  readonly watch?: boolean;
  /** Sent as `clientInfo` in every handshake. Default: this package's name and version. */
  readonly clientInfo?: Implementation;
  /** Declared in every handshake, beside what `handlers` declare. Default `{}`. */
  readonly capabilities?: ClientCapabilities;
  /** Overrides of the connection policy for every server; an entry's own win. */
  readonly policy?: PolicyOverrides;
  /** Who decides about entries of project files. Default: none of them that needs approval starts; it waits in `awaitingTrust`. */
  readonly trust?: TrustPolicy;
  /**
   * Remembers what `approve()`, and `trust` where it is a function, say yes to: neither is asked again about an entry
   * that has not changed. `createFileApprovalStore()` shares them with the `troupe` command. Default: an approval is
   * forgotten with the troupe.
   */
  readonly approvals?: ApprovalStore;
  /**
   * What becomes of a call whose connection is lost before the answer came. `safe` sends it once more over the next
   * session where that cannot act twice: nothing was written, or the tool's annotations say `readOnlyHint` or
   * `idempotentHint`. `never` leaves every repetition to the caller. Default `safe`.
   */
  readonly retryCalls?: RetryCalls;
  /**
   * How to sign in to remote servers that ask for it (OAuth 2.1): the options of Troupe's own provider, `{}` for its
   * defaults, or a function that gives a provider of the host's for a server. An entry whose headers hold an
   * `Authorization` keeps to that, unless it is a function that decides. Default: no sign-in; such a server waits in
   * `authorizing` for other headers and a retry.
   */
  readonly auth?: AuthOption;
  /** Answers to what servers ask: roots, sampling, elicitation. Only what has a handler is declared. Default: none. */
  readonly handlers?: ServerRequestHandlers;
  /**
   * Whether the arguments of a call are compared with the tool's input schema; what does not fit is an
   * `InvalidArgumentsError` and not sent. Default true.
   */
  readonly validateArguments?: boolean;
  /** How tools are named for the model. Default `mcp__{server}__{tool}`. */
  readonly naming?: NamingTemplate;
  /** What becomes of tools that change, against servers that show harmless tools first. Default `report`. */
  readonly review?: ReviewMode | ReviewOptions;
  /**
   * Whether a person has to approve each call of a tool, for the host's gate to obey: `requiresApproval` of the tool.
   * Anything but `false` is yes, and so is an error, which is told as a `diagnostic`. The annotations are the server's own
   * words and may be wrong. Default: yes for every tool.
   */
  readonly requiresApproval?: (tool: ToolInQuestion) => boolean;
  /** stdio servers that may start at the same time. Default: 2 × cores, at least 4. */
  readonly startSlots?: number;
  /**
   * Attempts at remote servers that nobody asked for, all together: so many may begin at once, then one more every so
   * many milliseconds. Keeps a fleet that was lost together from coming back as a storm. Default 20 and 50.
   */
  readonly retryBudget?: { readonly burst?: number; readonly everyMs?: number };
  /**
   * Where the tools of servers are kept from one run to the next, so that they are known before any server is started. A
   * list is used for 30 days, belongs to one entry, is replaced by what its server lists, and holds no secret of the entry.
   * `false`: nowhere. Default: `createFileCatalogStore()`; the variable `TROUPE_CACHE` names another folder, or says `off`.
   */
  readonly cache?: false | CatalogStore;
  /**
   * Most milliseconds `start()` waits for first attempts; servers whose tools are cached it waits for 250 ms at most.
   * Default 10,000.
   */
  readonly startGateMs?: number;
  /** Base of expansion for `${VAR}`. Default: this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The time that everything goes by. Default: the system's. */
  readonly clock?: Clock;
  /** Seed of every jitter; the same seed gives the same delays. Default: taken from the clock once. */
  readonly seed?: number;
  /**
   * Where everything that the charts are told is recorded, so that `troupe replay` can play it again: the path of a
   * file, which only its user can read, or a sink. What stands at the path becomes `PATH.1`. Holds no secret, and no
   * arguments and results of calls, unless `bodies` are asked for. Default: nothing is recorded.
   */
  readonly record?: RecordTarget;
  /**
   * Hears what every machine and effect is told and comes to, for the tools of XState: `inspector: stately.inspect`. One
   * that throws is told as a `diagnostic` and hears no more. Default: nobody.
   */
  readonly inspector?: MachineInspector;
  /** Hears what no observer was there to hear. Default: silent. */
  readonly logger?: Logger;
}

/** Longest a call may go without an answer and without progress, milliseconds. */
export const DEFAULT_CALL_TIMEOUT_MS = 60_000;
/** Longest `start()` waits for first attempts, milliseconds. */
export const DEFAULT_START_GATE_MS = 10_000;
/** Longest `start()` waits for servers whose tools are cached, milliseconds. */
export const CACHED_GATE_MS = 250;
/** How many retries may begin at once, and after how many milliseconds one more. */
export const DEFAULT_RETRY_BUDGET = { burst: 20, everyMs: 50 };
/** How tools are named for the model. */
export const DEFAULT_NAMING: NamingTemplate = 'mcp__{server}__{tool}';
/** Longest a starting server holds a start slot; one that merely does not answer must not starve the rest. Milliseconds. */
export const SLOT_HOLD_MS = 500;

/**
 * What a host may say: the options of `createTroupe` and the shape of one server's entry.
 * Defaults of the connection's numbers are in `machines/policy/policy.ts`; the rest are the constants below.
 *
 * Longer than most because everything a host may say is here, with its documentation.
 */
import type { Implementation, ClientCapabilities } from './mcp/session.js';
import type { AuthOption } from './auth/auth-options.js';
import type { CallHooks } from './calls/hooks.js';
import type { CatalogStore } from './catalog/cache-store.js';
import type { ToolInfo } from './catalog/registry.js';
import type { Fleet } from './fleet/stores.js';
import type { TrustStore } from './trust/trust-store.js';
import type { RetryCalls } from '../machines/policy/call-safety.js';
import type { RecordTarget } from './event-log/record/record-options.js';
import type { Telemetry } from './telemetry/telemetry.js';
import type { Clock, Logger } from './ports.js';
import type { NetworkOption } from './transports/http/network-options.js';
import type { MessageLimits } from './json/parse-json.js';
import type { ServerRequestHandlers } from './server-requests/handlers.js';
import type {
  InProcessServer,
  NamingTemplate,
  PolicyOverrides,
  ServerConfig,
  AskInput,
  ExpansionOptions,
} from './config/entry/server-config.js';
import type { TrustPolicy } from './trust/trust-request.js';
import type { ConfigFile, DiscoveryOptions } from './config/files/discover-options.js';
import type { ReviewMode, ReviewOptions } from './review/review-option.js';

/**
 * An observer of XState's inspection, such as `inspect` of an inspector of `@statelyai/inspect`. It receives copies of
 * actors, events and snapshots, with secrets masked; no actor can be reached through them.
 */
export type MachineInspector =
  | ((event: never) => void)
  | {
      /** Called for every inspection event. */
      readonly next?: (event: never) => void;
    };

/** Changes to the machines of a troupe. */
export interface MachineOverrides {
  /**
   * Gives the machine of every connection: the given one, which has Troupe's own effects, with other effects, guards, delays
   * or actions. Called once. Replays of its recordings need the same guards, delays and actions (`against`).
   *
   * The types of both parameters are `ConnectionMachine` and `ConnectionEffects` of `mcp-troupe/machines`.
   *
   * @param machine The machine with Troupe's effects.
   * @param effects Troupe's effects, to be called from others.
   *
   * @throws `ConfigError` from `createTroupe` if it gives something else than a machine made by `machine.provide`.
   *
   * @example
   * ```ts
   * import { createTroupe } from 'mcp-troupe';
   * import type { ConnectionMachine } from 'mcp-troupe/machines';
   *
   * const patient = (machine: ConnectionMachine) =>
   *   machine.provide({ delays: { slowRetryDelay: 3_600_000 } });
   * const troupe = createTroupe({ config: '.mcp.json', machines: { connection: patient } });
   * ```
   */
  readonly connection?: (machine: never, effects: never) => unknown;
}

/** Options of `createTroupe`. Each has a default. */
export interface TroupeOptions {
  /**
   * Servers by name. They are trusted, since the host names them itself. A server object of this process needs no entry
   * around it.
   */
  readonly servers?: Readonly<Record<string, ServerConfig | InProcessServer>>;
  /**
   * Configuration files. The entries of a file inside a project need trust, like entries that are found there: anyone who
   * can write to the project may have written them. Files elsewhere are trusted. `{ path, trust: 'all' }` trusts a
   * file wherever it is.
   */
  readonly config?: string | ConfigFile | readonly (string | ConfigFile)[];
  /** Whether to look for further servers in the usual files of the project, the user and other hosts. Default false. */
  readonly discover?: boolean | DiscoveryOptions;
  /** How variables in entries are replaced. */
  readonly expansion?: ExpansionOptions;
  /**
   * Asks a person for the value of `${input:ID}`, once for each id; undefined means no answer. Default: no
   * person is asked.
   */
  readonly askInput?: AskInput;
  /**
   * Watches the files and calls `reload` when one of them changes. A file that cannot be read removes nothing
   * and is tried again. Default false.
   */
  readonly watch?: boolean;
  /** Sent as `clientInfo` in every handshake. Default: this package's name and version. */
  readonly clientInfo?: Implementation;
  /** Declared in every handshake, in addition to what `handlers` declare. Default `{}`. */
  readonly capabilities?: ClientCapabilities;
  /** Overrides of the connection policy for every server; an entry's own win. */
  readonly policy?: PolicyOverrides;
  /**
   * Decides about entries of project files. Default: an entry that needs trust does not start and waits in
   * `awaitingTrust`.
   */
  readonly trust?: TrustPolicy;
  /**
   * Stores what `connection.trust()` and a function in `trust` have trusted, so that an unchanged entry is not asked
   * about again. `createFileTrustStore()` shares them with the `troupe` command. Default: trust is
   * forgotten with the troupe.
   */
  readonly trustStore?: TrustStore;
  /**
   * What happens to a call if its connection is lost before the answer. `safe` sends it once more over the
   * next session if that cannot act twice: nothing was written, or the tool is annotated with `readOnlyHint`
   * or `idempotentHint`. `never` leaves every repetition to the caller. Default `safe`.
   */
  readonly retryCalls?: RetryCalls;
  /**
   * How to sign in to remote servers that require it (OAuth 2.1): options of Troupe's own provider, `{}` for
   * its defaults, or a function that returns a provider for a server. An entry with an `Authorization` header
   * uses that header, unless a function decides. Default: no sign-in; such a server waits in `authorizing`
   * for other headers and a retry.
   */
  readonly auth?: AuthOption;
  /**
   * How requests to remote servers, including sign-ins, are sent: with a proxy, with certificates, or by an HTTP client of
   * the host (`fetch` or a dispatcher of undici). A function gives the options for one server. An entry's own `proxy`,
   * `ca`, `cert` and `key` take precedence. Default: Node's HTTP client, with the proxy of `HTTP_PROXY`, `HTTPS_PROXY`,
   * `ALL_PROXY` and `NO_PROXY`.
   */
  readonly network?: NetworkOption;
  /** How much one message and one list of a server may hold. Default: the defaults of `MessageLimits`. */
  readonly limits?: MessageLimits;
  /**
   * Answers to requests of servers: roots, sampling, elicitation. Only what has a handler is declared.
   * Default: none.
   */
  readonly handlers?: ServerRequestHandlers;
  /**
   * Code of the host around every tool call: to change or refuse it before it is sent, and to change or record its result.
   * Several run in their order before a call, and in the opposite order after it. Default: none.
   */
  readonly hooks?: CallHooks | readonly CallHooks[];
  /**
   * Compares the arguments of a call with the tool's input schema. A call that does not fit is not sent and
   * throws an `InvalidArgumentsError`. Default true.
   */
  readonly validateArguments?: boolean;
  /**
   * Adapts the arguments of a call to the tool's input schema if they do not fit it, because models write them loosely: a
   * `null` for an optional argument is left out unless the schema takes `null`, and an object, list, number or boolean
   * that is written as text is parsed if the schema takes no text there. A `diagnostic` names each place. `false` sends
   * or refuses arguments as they are. Default true.
   */
  readonly coerceArguments?: boolean;
  /** How tools are named for the model. Default `mcp__{server}__{tool}`. */
  readonly naming?: NamingTemplate;
  /**
   * How to treat tools that change, as a defence against servers that show harmless tools first. Default
   * `report`.
   */
  readonly review?: ReviewMode | ReviewOptions;
  /**
   * Sets `requiresConfirmation` of each tool: whether a person must confirm each call, which the host's gate
   * enforces. Any result but `false` is yes, and so is an error, which is published as a `diagnostic`.
   * Annotations come from the server and may be wrong. Default: no policy, and `requiresConfirmation` is null.
   */
  readonly requiresConfirmation?: (tool: ToolInfo) => boolean;
  /** Maximum number of stdio servers that start at the same time. Default: 2 × cores, at least 4. */
  readonly maxConcurrentStarts?: number;
  /**
   * Limit on automatic attempts at remote servers, over all connections: `burst` at once, then one more every
   * `everyMs`. It keeps servers that were lost together from being retried together. With `fleet`, all hosts together keep to such
   * a budget for each server as well, so set the same on every host. Default 20 and 50.
   */
  readonly retryBudget?: {
    /** Attempts that may begin at once. Default 20. */
    readonly burst?: number;
    /** Milliseconds until one more attempt may begin. Default 50. */
    readonly everyMs?: number;
  };
  /**
   * Stores the lists of servers between runs, so that they are known before any server is started. They are used for 30 days,
   * belong to one entry and to what the host declares (`clientInfo`, `capabilities`, `handlers`), are replaced by the next lists
   * of the server, are withdrawn if it cannot be started, and hold no secret of the entry. A host that uses one entry for several users, with other values of its variables, gives each a store of
   * its own. `false` stores nothing. Default: `createFileCatalogStore()`; the variable `TROUPE_CACHE` names another folder, or is `off`.
   */
  readonly cache?: false | CatalogStore;
  /**
   * The stores that this host shares with the others of its fleet, from `createFleet` of `mcp-troupe/fleet`. They take the
   * place of each default of `trustStore`, `cache`, the store of `review`, and the store of `auth` if that is an object.
   * Default: nothing is shared with other machines.
   */
  readonly fleet?: Fleet;
  /** Maximum time that `start()` and `listed()` wait for first attempts, in milliseconds. Default 10,000. */
  readonly startGateMs?: number;
  /** The variables that `${VAR}` in an entry refers to. Default: this process's environment. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Clock of the whole troupe. Default: the system's. */
  readonly clock?: Clock;
  /** Changes the machines before they run. Default: they run as they are. */
  readonly machines?: MachineOverrides;
  /** Seed of the random delays; the same seed gives the same delays. Default: taken from the clock once. */
  readonly seed?: number;
  /**
   * Records every event of the charts, so that `troupe replay` can repeat them: a sink, or the path of a
   * file, which only its user can read. A file at the path becomes `PATH.1`. The recording holds no secrets,
   * and no arguments and results of calls unless `bodies` is set. Default: no recording.
   */
  readonly record?: RecordTarget;
  /**
   * Masks what only the host knows to be secret, in every text of an event, a log, an error and the inspector, after Troupe
   * has masked what it knows. It must be pure and take its own output, because a text may pass more than once. If it
   * throws or returns no text, the text is masked as a whole and a `diagnostic` is published once. Names of servers,
   * definitions of tools and results of calls do not pass it. Default: nothing more is masked.
   *
   * @example
   * ```ts
   * const redact = (text: string) => text.replaceAll(/ACME-\d+/g, '***');
   * ```
   */
  readonly redact?: (text: string) => string;
  /**
   * Receives the events and states of every machine and effect, for the tools of XState: `inspector:
   * stately.inspect`. If it throws, a `diagnostic` is published and it receives nothing more. Default: none.
   */
  readonly inspector?: MachineInspector;
  /**
   * Receives every event as a record of a log, and errors that cannot be published as events. `console` and the loggers of pino,
   * winston and bunyan fit. Default: nothing is logged.
   *
   * @example
   * ```ts
   * import { createTroupe } from 'mcp-troupe';
   *
   * const troupe = createTroupe({ config: '.mcp.json', logger: console });
   * ```
   */
  readonly logger?: Logger;
  /**
   * Makes spans and metrics of requests, sessions and connections: `openTelemetry()` of `mcp-troupe/opentelemetry`. Default:
   * none, and nothing is loaded for it.
   */
  readonly telemetry?: Telemetry;
}

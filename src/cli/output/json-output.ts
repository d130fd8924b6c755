/**
 * What each command prints with `--json`. The JSON Schema of the reference is generated from these types, and the tests check
 * every output against it. Longer than 300 lines because the outputs of all commands stand in one place.
 */
import type { CallToolResult, GetPromptResult, ReadResourceResult, Tool } from '../../mcp/server-offers.js';
import type { Annotations } from '../../mcp/content.js';
import type { ChartModel } from '../../charts/chart-model.js';
import type { CatalogTool } from '../../catalog/registry.js';
import type { ConfigProblem } from '../../errors.js';
import type { ConnectionSummary, StateChange } from '../../event-log/replay/summary.js';
import type { Divergence } from '../../event-log/replay/divergence.js';
import type { FoundTool } from '../../search/tool-search.js';
import type { HeldTool } from '../../review/held-tool.js';
import type { LifecycleEvent } from '../../lifecycle/event.js';
import type { LeftOut } from '../../event-log/report/collect-logs.js';
import type { LogReport } from '../../event-log/format/report.js';
import type { LogProblem } from '../../event-log/format/read-log.js';
import type { OfferMode } from '../../search/offer.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import type { SignOutResult } from '../../auth/sign-out.js';
import type { ToolChange } from './generated-file.js';
import type { TrustedEntry } from '../../trust/trust-store.js';

/** The output of each command, by its name. */
export interface JsonOutput {
  /** The lifecycle events as they happen, one on each line; with `--background` what was started. */
  readonly up: LifecycleEvent | BackgroundJson;
  /** The process that was ended; null if none ran. */
  readonly down: { readonly ended: number | null };
  /** What servers wrote, and with `--verbose` further events, one on each line. */
  readonly logs: LifecycleEvent;
  /** With `--http`: where the gateway listens, as soon as it does. Without, stdout carries the messages of MCP. */
  readonly serve: ServeJson;
  /** The status of each server after its attempts. */
  readonly check: { readonly servers: readonly ServerStatus[] };
  /** What was examined, and whether anything is wrong. */
  readonly doctor: { readonly ok: boolean; readonly findings: readonly Finding[] };
  /** The tools; with `--search` those that were found, best first; with `--tokens` what they take. */
  readonly tools: readonly ToolJson[] | readonly FoundToolJson[] | TokensReport;
  /** What was written; with `--check` what no longer fits. */
  readonly generate: GeneratedJson | FitJson;
  /** The result as the server gave it. */
  readonly call: CallToolResult;
  /** What the servers list. */
  readonly resources: {
    readonly resources: readonly ResourceJson[];
    readonly resourceTemplates: readonly ResourceTemplateJson[];
  };
  /** The result as the server gave it. */
  readonly read: ReadResourceResult;
  /** The prompts of all servers. */
  readonly prompts: readonly PromptJson[];
  /** The result as the server gave it. */
  readonly prompt: GetPromptResult;
  /**
   * What happened in the recording, and whether it happens again; of several recordings, each of them. With `--follow` the
   * changes as they happen, and at the end of each recording its result, one on each line.
   */
  readonly replay: ReplayJson | ReplaysJson | StateChange;
  /** The file that was written, and its content. */
  readonly report: ReportJson;
  /** The address of the page. */
  readonly inspect: { readonly url: string };
  /** Each server with its source; with `--schema` the JSON Schema of a configuration file. */
  readonly config: ConfigJson | ConfigSchema;
  /** The file that was written. */
  readonly init: { readonly file: string };
  /** The file that was changed, and the server. */
  readonly add: EditJson;
  /** The file that was changed, and the server. */
  readonly remove: EditJson;
  /** The file with the server, whether or not it had to be changed. */
  readonly enable: EditJson;
  /** The file with the server, whether or not it had to be changed. */
  readonly disable: EditJson;
  /** The file that was written, and the servers in it. */
  readonly import: { readonly file: string; readonly servers: readonly string[] };
  /** What became of each server; with `--list` the trusted entries. */
  readonly trust: readonly TrustJson[] | { readonly trusted: readonly TrustedEntry[] };
  /** The tools that are held back, and with `--accept` the names of those that are accepted from now on. */
  readonly review: { readonly accepted?: readonly string[]; readonly held: readonly HeldTool[] };
  /** Who is signed in. */
  readonly login: LoginJson;
  /** What became of the sign-in. */
  readonly logout: { readonly server: string; readonly account?: string; readonly result: SignOutResult };
  /** The chart. */
  readonly machine: ChartModel;
}

/** A background process. */
export interface BackgroundJson {
  readonly pid: number | null;
  /** Path of its log. */
  readonly log: string;
  /** False if it ran already. */
  readonly started: boolean;
  /** Absent if it ran already. */
  readonly servers?: readonly ServerStatus[];
}

/** Generated code: its text, or the file with it. */
export interface GeneratedJson {
  /** Number of tools. */
  readonly tools: number;
  /** Absent with `--out`. */
  readonly text?: string;
  readonly file?: string;
  /** Whether the file had to be changed. */
  readonly changed?: boolean;
}

/** A comparison of a generated file with the tools of today. */
export interface FitJson {
  readonly fits: boolean;
  readonly changes: readonly ToolChange[];
  /** Servers that could not be reached. */
  readonly notCompared: readonly string[];
}

/** The address of a gateway. */
export interface ServeJson {
  /** Address of its MCP endpoint. */
  readonly url: string;
  /** The file with the token that clients must send. Absent if the token was given, or if there is none. */
  readonly tokenFile?: string;
  /** With `--metrics`: where Prometheus reads metrics. */
  readonly metricsUrl?: string;
}

/** One thing that `doctor` examined. */
export interface Finding {
  /** What kind of thing it is. */
  readonly about: 'machine' | 'source' | 'server';
  /** The thing that was examined. */
  readonly name: string;
  /** How bad it is. Only an `error` counts for the exit code. */
  readonly level: 'ok' | 'note' | 'warning' | 'error';
  /** What was found, for a person. */
  readonly message: string;
  /** What to do, one line each. */
  readonly advice: readonly string[];
}

/** A tool. Every field is present; null stands for what its server does not state. */
export interface ToolJson extends Pick<
  CatalogTool,
  'name' | 'server' | 'tool' | 'inputSchema' | 'requiresConfirmation'
> {
  readonly title: string | null;
  readonly description: string | null;
  readonly outputSchema: Tool['inputSchema'] | null;
  readonly annotations: NonNullable<Tool['annotations']> | null;
}

/** A tool that a search found. */
export interface FoundToolJson extends ToolJson, Pick<FoundTool, 'score' | 'matches'> {}

/** How many definitions, and what they take of a model's context. */
export interface OfferSize {
  /** Number of tools. */
  readonly tools: number;
  /** Tokens of their definitions, estimated. */
  readonly tokens: number;
}

/** The tokens that the definitions of tools take. */
export interface TokensReport extends OfferSize {
  /** By server. */
  readonly servers: readonly (OfferSize & { readonly server: string })[];
  /** What a model is offered in each mode. */
  readonly modes: Readonly<Record<OfferMode, OfferSize>>;
  /** Limit of the mode `auto`. */
  readonly maxTokens: number;
}

/** What resources and resource templates have in common. Null stands for what the server does not state. */
export interface ListedResource {
  readonly server: string;
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly mimeType: string | null;
  readonly annotations: Annotations | null;
}

/** A resource. */
export interface ResourceJson extends ListedResource {
  readonly uri: string;
  /** In bytes. */
  readonly size: number | null;
}

/** A family of resources. */
export interface ResourceTemplateJson extends ListedResource {
  /** Template of their URIs (RFC 6570). */
  readonly uriTemplate: string;
}

/** A prompt. Null stands for what its server does not state. */
export interface PromptJson {
  /** The name for the model. */
  readonly name: string;
  readonly server: string;
  /** The server's own name for it. */
  readonly prompt: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly arguments: readonly {
    readonly name: string;
    readonly description: string | null;
    readonly required: boolean;
  }[];
}

/** A report. */
export interface ReportJson {
  /** Absolute path. */
  readonly file: string;
  /** Size of the file. */
  readonly bytes: number;
  /** The first line of the report. */
  readonly report: LogReport;
  /** Older files that are not in it. */
  readonly leftOut: readonly LeftOut[];
}

/** The results of several replays. */
export interface ReplaysJson {
  /** The recordings, in the order in which they began. */
  readonly runs: readonly ReplayJson[];
  /** Every change of a state of all recordings, with `--timeline`. */
  readonly timeline?: readonly LabelledChange[];
}

/** A change of a state in one of several recordings. */
export interface LabelledChange extends StateChange {
  /** The `label` of its recording. */
  readonly run: string;
}

/** The result of a replay. */
export interface ReplayJson {
  /** Computer and process that recorded, such as `web-1, pid 42`; null if its header cannot be read. */
  readonly label: string | null;
  /** Id of the recording; null for an older log. */
  readonly run: string | null;
  /** Number of entries that were replayed. */
  readonly entries: number;
  /** When the recording began, milliseconds since the epoch; null if its header cannot be read. */
  readonly startedAt: number | null;
  /** Time of the last entry, milliseconds since the epoch; null if there was none. */
  readonly at: number | null;
  /** By name of the server. */
  readonly connections: Readonly<Record<string, ConnectionSummary>>;
  /** The first differences between recording and replay. */
  readonly divergences: readonly Divergence[];
  /** Number of all differences. */
  readonly divergenceCount: number;
  /** Whether the recording was ended, and not cut off. */
  readonly isEnded: boolean;
  /** Whether it was recorded with other charts. */
  readonly hasOtherCharts: boolean;
  /** Why only the fold was checked; null if the actors were run again. */
  readonly whyNoRerun: string | null;
  /** Why the log cannot be read any further; null if it was read to its end. */
  readonly problem: LogProblem | null;
  /** Every change of a state, with `--timeline`. */
  readonly timeline?: readonly StateChange[];
}

/** The merged configuration. Secrets are masked. */
export interface ConfigJson {
  /** By name. */
  readonly servers: Readonly<Record<string, ConfiguredServer>>;
  /** What is wrong in the files. */
  readonly problems: readonly (ConfigProblem & { readonly severity: 'error' | 'warning' })[];
}

/** A server as it is configured. */
export interface ConfiguredServer {
  /** The file, or `options`, that names it; null if that is unknown. */
  readonly source: string | null;
  /** Its entry as written; null if it cannot be used. */
  readonly config: Readonly<Record<string, unknown>> | null;
  readonly enabled: boolean;
  /** Whether it may be started without being trusted. */
  readonly trusted: boolean;
  /** Sources with an entry of the same name that is not used. Absent for an entry that cannot be used. */
  readonly shadows?: readonly string[];
}

/** A JSON Schema. */
export type ConfigSchema = Readonly<Record<string, unknown>> & { readonly $schema: string };

/** A change of a configuration file. */
export interface EditJson {
  /** Absolute path. */
  readonly file: string;
  readonly server: string;
}

/** What became of a server that `trust` was asked about. */
export interface TrustJson {
  readonly server: string;
  readonly result: 'trusted' | 'declined' | 'not-needed' | 'revoked' | 'none';
}

/** A sign-in. */
export interface LoginJson {
  readonly server: string;
  /** The account, if the entry names one. */
  readonly account?: string;
  /** Whether a person had to sign in. */
  readonly signedIn: boolean;
  readonly toolCount: number;
}

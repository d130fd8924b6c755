/**
 * Packs what somebody else needs to look into an incident into one file: recordings, versions, configuration, findings.
 *
 * C1. No secret of a configuration gets into it: entries are shown as everywhere, and texts are masked by the secrets of the
 *     entries, by names and by form. Recordings are packed as they are: they hold no secret that was known when they were made.
 * C2. Names of computers, and the path of the home folder outside of recordings, are left out unless they are asked for.
 * C3. What is packed can be read: every line of a recording is checked, and a last line that was cut off is left out.
 */
import { homedir, release } from 'node:os';
import type { ServerConfig } from '../../config/entry/server-config.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import { PACKAGE } from '../../package.js';
import { THIS_PLATFORM } from '../../platform/platform.js';
import { maskBody } from '../../secrets/mask-body.js';
import { createMask, secretsOf, shownConfig, type Mask } from '../../secrets/secrets.js';
import { requireKnown, type OptionNames } from '../../text/option-names.js';
import { systemClock } from '../../ports.js';
import type { LogSource } from '../format/log-source.js';
import { REPORT_FORMAT, type LogReport, type ReportVersions } from '../format/report.js';
import { currentCharts } from '../record/make-recorder.js';
import { collectLogs, type LeftOut } from './collect-logs.js';

/** Options of `createReport`. */
export interface CreateReportOptions {
  /**
   * The recordings. Of a path, the older files beside it (`PATH.1`, `PATH.2`) are packed as well, whichever recording they
   * are of. Anything else is packed alone.
   */
  readonly logs: LogSource | readonly LogSource[];
  /** The entries of servers, as for `createTroupe`. Secrets in them are masked. Default: none. */
  readonly servers?: Readonly<Record<string, ServerConfig>>;
  /** What the host says about itself, as JSON, such as its settings. Secrets are masked by name and form. Default: nothing. */
  readonly about?: JsonObject;
  /** Further versions by name, such as the host's own. Default: none. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Whether the names of computers stay in the recordings. Default false: they are numbered, `host-1` and so on. */
  readonly hostNames?: boolean;
  /**
   * Total size of the recordings, bytes, before they are packed. Older files beyond it are left out, but not what was given.
   * Default 64 MiB.
   */
  readonly maxBytes?: number;
}

/** A report, packed. */
export interface CreatedReport {
  /** The file: JSON lines, packed with gzip. Its name should end with `.jsonl.gz`. */
  readonly bytes: Uint8Array;
  /** Its first line. */
  readonly report: LogReport;
  /** Older files that were left out. */
  readonly leftOut: readonly LeftOut[];
}

const DEFAULT_MAX_BYTES = 64 * 1_024 * 1_024;

const OPTIONS: OptionNames<CreateReportOptions> = {
  logs: true,
  servers: true,
  about: true,
  versions: true,
  hostNames: true,
  maxBytes: true,
};

/**
 * Makes a report: one file for whoever looks into an incident. `openLog`, `mergeLogs`, `troupe replay`, `troupe inspect` and
 * the page open it. It can be made while a recording is running.
 *
 * @param options The recordings, and what else is packed.
 *
 * @throws `TypeError` for an unknown option, and if `logs` holds anything that is no log; an `Error` if a log cannot be read,
 *   or if one of its lines is invalid.
 *
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises';
 * import { createReport } from 'mcp-troupe/event-log';
 *
 * const { bytes } = await createReport({ logs: 'troupe.log', versions: { editor: '3.1.0' } });
 * await writeFile('report.jsonl.gz', bytes, { mode: 0o600 });
 * ```
 */
export async function createReport(options: CreateReportOptions): Promise<CreatedReport> {
  requireKnown('createReport', options, OPTIONS);
  const { servers, about = null, versions = {}, hostNames = false } = options;
  const { maxBytes = DEFAULT_MAX_BYTES, logs } = options;
  const mask = createMask(Object.values(servers ?? {}).flatMap(secretsIn));
  return packReport({
    logs: Array.isArray(logs) ? (logs as readonly LogSource[]) : [logs as LogSource],
    configuration: servers === undefined ? null : { servers: shown(servers) },
    findings: null,
    about,
    versions,
    hostNames,
    maxBytes,
    mask,
  });
}

/** What is packed. Configuration and findings are masked once more. */
export interface ReportParts extends Pick<LogReport, 'configuration' | 'findings' | 'about'> {
  readonly logs: readonly LogSource[];
  readonly versions: Readonly<Record<string, string>>;
  readonly hostNames: boolean;
  readonly maxBytes: number;
  /** Masks the secrets of the entries. */
  readonly mask: Mask;
}

export async function packReport({
  logs,
  hostNames,
  maxBytes,
  mask,
  versions,
  ...parts
}: ReportParts): Promise<CreatedReport> {
  const { parts: packed, reported, leftOut } = await collectLogs(logs, { hostNames, maxBytes });
  const home = homedir();
  const safe = <T>(value: T): T =>
    maskBody(value, (text) => withoutHome(mask(text), hostNames ? '' : home)) as T;
  const report: LogReport = {
    troupeReport: REPORT_FORMAT,
    at: systemClock.now(),
    versions: { ...safe(versions), ...ownVersions() },
    machines: currentCharts(),
    configuration: safe(parts.configuration),
    findings: safe(parts.findings),
    about: safe(parts.about),
    logs: reported,
  };
  const lines = new TextEncoder().encode(`${JSON.stringify(report)}\n`);
  return { bytes: await gzipped([lines, ...packed]), report, leftOut };
}

function withoutHome(text: string, home: string): string {
  return home.length > 1 ? text.replaceAll(home, '~') : text;
}

function ownVersions(): ReportVersions {
  const { bun, deno, node } = process.versions as Partial<Record<string, string>>;
  const runtime = deno === undefined ? (bun === undefined ? `node ${node}` : `bun ${bun}`) : `deno ${deno}`;
  return {
    troupe: PACKAGE.version,
    runtime,
    platform: `${THIS_PLATFORM.name} ${process.arch}`,
    os: release(),
  };
}

/** An entry may have any shape: a host gives what it has. */
function shown(servers: Readonly<Record<string, ServerConfig>>): JsonObject {
  return Object.fromEntries(Object.entries(servers).map(([name, entry]) => [name, shownEntry(entry)]));
}

function shownEntry(entry: ServerConfig): unknown {
  try {
    return isJsonObject(entry) ? shownConfig(entry) : null;
  } catch {
    return null;
  }
}

function secretsIn(entry: ServerConfig): readonly string[] {
  try {
    return secretsOf(entry, entry, process.env);
  } catch {
    return [];
  }
}

async function gzipped(pieces: readonly Uint8Array[]): Promise<Uint8Array> {
  const packed = new Blob(pieces as Uint8Array<ArrayBuffer>[])
    .stream()
    .pipeThrough(new CompressionStream('gzip') as TransformStream<Uint8Array, Uint8Array>);
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

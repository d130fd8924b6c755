/**
 * The first line of a report: what a person who looks into an incident asks about the program, its machine and its
 * configuration. The recordings follow, each part with its header. Runs in a browser.
 *
 * P1. A report holds no secret: configuration and findings are masked before they come here.
 * P2. Unknown fields are kept, so a later version may add some.
 */
import { isJsonObject, type JsonObject } from '../../json/json-object.js';

/** The version of the reports that this package writes and reads. */
export const REPORT_FORMAT = 1;

/** The versions of what ran. */
export interface ReportVersions {
  /** Version of `mcp-troupe`. */
  readonly troupe: string;
  /** Name and version of the JavaScript runtime, such as `node 22.1.0`. */
  readonly runtime: string;
  /** Operating system and processor, such as `linux x64`. */
  readonly platform: string;
  /** Version of the operating system, as it states it. */
  readonly os: string;
  /** Further versions that the host has given, by name. */
  readonly [name: string]: string;
}

/** A recording in a report. */
export interface ReportedLog {
  /** Name of the file; of several, the newest. */
  readonly name: string;
  /** Id of the recording; null for an older log. */
  readonly run: string | null;
  /** Number of parts. */
  readonly parts: number;
  /** Number of entries. */
  readonly entries: number;
  /** Time of the first entry, milliseconds since the epoch. */
  readonly from: number;
  /** Time of the last entry, milliseconds since the epoch. */
  readonly to: number;
  /** Names of the connections. */
  readonly connections: readonly string[];
  /** Whether it was recorded with bodies, so that it holds arguments and results. */
  readonly hasBodies: boolean;
  /** Whether its last line was cut off and left out. */
  readonly isTruncated: boolean;
}

/** The first line of a report. */
export interface LogReport {
  /** Version of the format. */
  readonly troupeReport: typeof REPORT_FORMAT;
  /** When the report was made, milliseconds since the epoch. */
  readonly at: number;
  /** The versions of what made the report. A log says itself which version recorded it. */
  readonly versions: ReportVersions;
  /** Hashes of the charts of the package that made the report, by name. */
  readonly machines: Readonly<Record<string, string>>;
  /** The configuration, without secrets; null if it was not asked for, or not found. */
  readonly configuration: JsonObject | null;
  /** What `troupe doctor` found about machine and files; null if it was not asked. */
  readonly findings: readonly JsonObject[] | null;
  /** What the host says about itself; null if nothing. */
  readonly about: JsonObject | null;
  /** The recordings that follow, in order. */
  readonly logs: readonly ReportedLog[];
}

/** Whether a first line begins a report, of whatever version. */
export function isReport(value: unknown): value is JsonObject {
  return isJsonObject(value) && Object.hasOwn(value, 'troupeReport');
}

/** Why a report cannot be read; undefined if it can. */
export function reportProblem(
  value: JsonObject,
): { readonly code: 'newer' | 'corrupt'; readonly message: string } | undefined {
  const { troupeReport: version, versions, logs } = value;
  if (!Number.isSafeInteger(version) || !isJsonObject(versions) || !Array.isArray(logs))
    return { code: 'corrupt', message: 'Line 1 is not the beginning of a report.' };
  if (version === REPORT_FORMAT) return undefined;
  const message = `This report has version ${Number(version)}; this version of mcp-troupe reads version ${REPORT_FORMAT}. Use the version that wrote it, or a newer one.`;
  return { code: 'newer', message };
}

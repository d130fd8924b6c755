/** Checks the format version of a log. Every reader uses it. Runs in a browser. */
import { isJsonObject } from '../../json/json-object.js';
import { LOG_FORMAT } from './entry.js';

/** Why a log cannot be read at all. */
export interface VersionProblem {
  readonly code: 'not-a-log' | 'older' | 'newer';
  /** The problem and its remedy. */
  readonly message: string;
}

/** `value` is the first line of a log, or of a part, and `line` its number. Undefined if what follows can be read. */
export function versionProblem(value: unknown, line: number): VersionProblem | undefined {
  const version = isJsonObject(value) && Object.hasOwn(value, 'troupeLog') ? value['troupeLog'] : undefined;
  if (!isVersion(version))
    return { code: 'not-a-log', message: `Line ${line} is not the header of an event log.` };
  if (version === LOG_FORMAT) return undefined;
  const versions = `This log has version ${version}; this version of mcp-troupe reads version ${LOG_FORMAT}.`;
  return version < LOG_FORMAT
    ? { code: 'older', message: `${versions} Convert it: node tools/convert-log.mjs OLD NEW` }
    : { code: 'newer', message: `${versions} Use the version that wrote it, or a newer one.` };
}

function isVersion(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

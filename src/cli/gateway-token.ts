/**
 * The token of this user's gateways over HTTP. It is made once and kept, so that clients can be configured with it.
 *
 * G1. The file is readable by its user only. A file that others could read or that someone else wrote is not used, but
 *     replaced.
 * G2. Gateways that start at the same time have the same token.
 */
import { randomBytes } from 'node:crypto';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { THIS_PLATFORM } from '../platform/platform.js';
import { makeFolder } from '../storage/folders.js';
import { isAbsence, createFileAtomic, writeFileAtomic } from '../storage/stored-file.js';

export interface GatewayToken {
  readonly token: string;
  readonly file: string;
}

const NAME = 'gateway-token';
const BYTES = 32;
const FORM = /^[\w-]{43}$/;
const FOR_OTHERS = 0o077;
/** Most bytes of a file with a token. */
const LONGEST = 64;

/** The kept token of the gateways, or a new one. Rejects if it cannot be kept. */
export function gatewayToken(folder: string): Promise<GatewayToken> {
  return keptToken(folder, NAME);
}

/** A secret of this user for the processes of this user, which is kept in a file of this name. */
export async function keptToken(folder: string, name: string): Promise<GatewayToken> {
  makeFolder(folder);
  const file = join(folder, name);
  const kept = await readToken(file);
  if (kept !== undefined && kept !== 'unusable') return { token: kept, file };
  const token = randomBytes(BYTES).toString('base64url');
  if (kept === 'unusable') await writeFileAtomic(file, `${token}\n`);
  else if (!(await createFileAtomic(file, `${token}\n`))) return keptToken(folder, name);
  return { token, file };
}

/** Undefined if there is no such file; `unusable` is never a token, which is longer. */
async function readToken(file: string): Promise<string | undefined> {
  try {
    const stats = await lstat(file);
    const isOurs = process.getuid === undefined || stats.uid === process.getuid();
    const isPrivate = !THIS_PLATFORM.hasFileModes || (stats.mode & FOR_OTHERS) === 0;
    if (!stats.isFile() || stats.size > LONGEST || !isOurs || !isPrivate) return 'unusable';
    const token = (await readFile(file, 'utf8')).trim();
    return FORM.test(token) ? token : 'unusable';
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

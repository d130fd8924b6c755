/**
 * Approvals as files that only the user can read: one per approval, named after the hash of its request.
 *
 * F1. A file is written whole or not at all, and no two approvals share one: processes that approve at the same time
 *     lose nothing of each other, and need no lock for it.
 * F2. A file that cannot be understood approves nothing, and says so when it is asked for. Who approves its request
 *     anew moves it aside before.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../errors.js';
import { makeFolder } from '../make-folder.js';
import { moveAside } from '../move-aside.js';
import { parseJson } from '../parse-json.js';
import { readStored } from '../read-stored.js';
import { userFolder } from '../user-folder.js';
import { watchFolder } from '../watch-folder.js';
import { writePrivately } from '../write-privately.js';
import { toApproval, type Approval, type ApprovalStore } from './approval-store.js';
import { isObject } from './read-shape.js';
import { isAbsence } from './sources.js';

export interface FileApprovalStoreOptions {
  /**
   * Where the files are; made when first needed, for the user alone. Default: `approvals` in Troupe's folder in the
   * user's configuration, the one that the `troupe` command uses.
   */
  readonly folder?: string;
}

const HASH = /^[0-9a-f]{64}$/;

/** Approvals that outlive the process and are shared by all processes of the user, the `troupe` command included. */
export function createFileApprovalStore(options: FileApprovalStoreOptions = {}): ApprovalStore {
  const folder = async (): Promise<string> => options.folder ?? defaultFolder();
  const fileOf = async (hash: string): Promise<string> => join(await folder(), fileName(hash));
  return {
    has: async (hash) => (await readApproval(await fileOf(hash), hash)) !== undefined,
    list: async () => readAll(await folder()),
    approve: async (request) => {
      const file = await fileOf(request.hash);
      makeFolder(await folder());
      await readApproval(file, request.hash).catch(() => moveAside(file));
      await writePrivately(file, `${JSON.stringify(toApproval(request), null, 2)}\n`);
    },
    revoke: async (hash) => rm(await fileOf(hash), { force: true }),
    // Without a watch the approval is found at the next attempt.
    watch: (onChange) =>
      watchFolder(folder(), (file) => {
        if (file === null || file.endsWith('.json')) onChange();
      }),
  };
}

async function defaultFolder(): Promise<string> {
  return join(await userFolder('config'), 'approvals');
}

function fileName(hash: string): string {
  if (!HASH.test(hash)) throw new TypeError('The hash of a trust request has 64 hexadecimal digits.');
  return `${hash}.json`;
}

/** Those that cannot be understood are left out: whoever asks for one of them is told. */
async function readAll(folder: string): Promise<readonly Approval[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isAbsence(error)) return [];
    throw error;
  });
  const hashes = names.flatMap((name) => (name.endsWith('.json') ? name.slice(0, -'.json'.length) : []));
  const approvals = await Promise.all(
    hashes
      .filter((hash) => HASH.test(hash))
      .map((hash) => readApproval(join(folder, fileName(hash)), hash).catch(() => undefined)),
  );
  return approvals.flatMap((approval) => approval ?? []);
}

/** Undefined where there is none. Rejects where there is a file that is none. */
async function readApproval(file: string, hash: string): Promise<Approval | undefined> {
  const text = await readStored(file);
  if (text === undefined) return undefined;
  const approval = parseApproval(text);
  if (approval?.hash === hash) return approval;
  throw new ConfigError(
    `${file} is no approval that can be understood, so it counts for nothing; approve the server again, and it is kept beside the new one`,
  );
}

function parseApproval(text: string): Approval | undefined {
  const value = parseJson(text);
  if (!isObject(value)) return undefined;
  const { hash, server, source, folder } = value;
  const texts = [hash, server, source, folder];
  return texts.every((one) => typeof one === 'string')
    ? toApproval({ hash, server, source, folder } as Approval)
    : undefined;
}

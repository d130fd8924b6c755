/**
 * Approved tools as files that only the user can read: for each server the baseline, `HASH.json`, and beside it one
 * file for every tool that was approved later, `HASH.TOOL.json`.
 *
 * F1. A file is written whole or not at all. The baseline is made only where there is none, and no two tools share a
 *     file: processes that write at the same time lose nothing of each other, and need no lock for it.
 * F2. A baseline that cannot be understood is no baseline: it is told, and never taken for a server that was not seen
 *     before. The next approval moves it aside, and an empty one takes its place.
 * F3. A tool whose file cannot be understood counts as not approved, whatever the baseline says of it.
 */
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../config/read-shape.js';
import { makeFolder } from '../make-folder.js';
import { moveAside } from '../move-aside.js';
import { parseJson } from '../parse-json.js';
import { readStored } from '../read-stored.js';
import { userFolder } from '../user-folder.js';
import { watchFolder } from '../watch-folder.js';
import { createPrivately, writePrivately } from '../write-privately.js';
import { toReviewed } from './fingerprint.js';
import type { RememberedTool, ReviewedServer, ReviewStore } from './review-store.js';

export interface FileReviewStoreOptions {
  /**
   * Where the files are; made when first needed, for the user alone. Default: `reviews` in Troupe's folder in the
   * user's configuration, the one that the `troupe` command uses.
   */
  readonly folder?: string;
}

const HASH = /^[0-9a-f]{64}$/;
/** The names of files that count, with the hash of their server. */
const OURS = /^([0-9a-f]{64})(\.[0-9a-f]{64})?\.json$/;

/** Approvals that outlive the process and are shared by all processes of the user, the `troupe` command included. */
export function createFileReviewStore(options: FileReviewStoreOptions = {}): ReviewStore {
  const place = async (): Promise<string> => options.folder ?? defaultFolder();
  const madeFolder = async (): Promise<string> => {
    const folder = await place();
    makeFolder(folder);
    return folder;
  };
  /** What was written here last, by the name of its file. */
  const own = new Map<string, string>();
  const isOwn = async (folder: string, name: string): Promise<boolean> => {
    const text = own.get(name);
    return text !== undefined && (await readStored(join(folder, name)).catch(() => undefined)) === text;
  };
  return {
    baseline: async (server, first) => {
      const folder = await madeFolder();
      const file = join(folder, baselineName(server));
      const known = (await readBaseline(file)) ?? (await beginWith(file, server, first));
      return withLater(known, await readLater(folder, server));
    },
    approve: async (server, tools) => {
      const folder = await madeFolder();
      const file = join(folder, baselineName(server));
      const known = await readBaseline(file).catch((error: unknown) => setAside(file, error));
      if (known === undefined) await createPrivately(file, toText(server, []));
      for (const tool of tools) {
        const name = `${server.hash}.${suffixOf(tool)}`;
        const text = toText(server, [tool]);
        own.set(name, text);
        await writePrivately(join(folder, name), text);
      }
    },
    // Without a watch the approval is found at the next start.
    watch: (onChange) => {
      let isOver = false;
      const tell = async (folder: string, name: string, hash: string): Promise<void> => {
        if (!(await isOwn(folder, name)) && !isOver) onChange(hash);
      };
      const stop = watchFolder(place(), (file, folder) => {
        const [name, hash] = OURS.exec(file ?? '') ?? [];
        if (name !== undefined && hash !== undefined) void tell(folder, name, hash);
      });
      return () => {
        isOver = true;
        stop();
      };
    },
  };
}

async function defaultFolder(): Promise<string> {
  return join(await userFolder('config'), 'reviews');
}

function baselineName({ hash }: ReviewedServer): string {
  if (!HASH.test(hash)) throw new TypeError('The hash of a server has 64 hexadecimal digits.');
  return `${hash}.json`;
}

/** What its file is called beside the hash of the server. In UTF-8 all lone surrogates would look alike. */
function suffixOf({ name }: RememberedTool): string {
  return `${createHash('sha256').update(name, 'utf16le').digest('hex')}.json`;
}

/** Another process may have been faster: then its list is the one. */
async function beginWith(
  file: string,
  server: ReviewedServer,
  first: readonly RememberedTool[],
): Promise<readonly RememberedTool[]> {
  if (await createPrivately(file, toText(server, first))) return first;
  return (await readBaseline(file)) ?? [];
}

/** The name of the server is for whoever looks into the file. */
function toText({ server }: ReviewedServer, tools: readonly RememberedTool[]): string {
  return `${JSON.stringify({ server, tools: tools.map(toRemembered) }, null, 2)}\n`;
}

function toRemembered(tool: RememberedTool): RememberedTool {
  const { fingerprint } = tool;
  return { ...toReviewed(tool), ...(fingerprint === undefined ? {} : { fingerprint }) };
}

/** Undefined where there is none. Rejects where there is a file that is none. */
async function readBaseline(file: string): Promise<readonly RememberedTool[] | undefined> {
  const text = await readStored(file);
  if (text === undefined) return undefined;
  const tools = parseTools(text);
  if (tools === undefined) throw new BrokenBaseline(file);
  return tools;
}

class BrokenBaseline extends Error {
  constructor(file: string) {
    super(
      `${file} cannot be understood, so it counts for nothing; approve the tools again, and it is kept aside`,
    );
  }
}

/** The tools that were approved later, by the suffix of their file; null where it cannot be understood. */
async function readLater(
  folder: string,
  { hash }: ReviewedServer,
): Promise<ReadonlyMap<string, RememberedTool | null>> {
  const names = (await readdir(folder)).filter((name) => {
    const [, owner, isLater] = OURS.exec(name) ?? [];
    return owner === hash && isLater !== undefined;
  });
  const entries = names.map(async (name) => {
    const text = await readStored(join(folder, name));
    return [name.slice(`${hash}.`.length), parseTools(text ?? '')?.[0] ?? null] as const;
  });
  return new Map(await Promise.all(entries));
}

/** What was approved later takes the place of the tool of its name. */
function withLater(
  known: readonly RememberedTool[],
  later: ReadonlyMap<string, RememberedTool | null>,
): readonly RememberedTool[] {
  const stillCounts = known.filter((tool) => !later.has(suffixOf(tool)));
  const approved = [...later].flatMap(([file, tool]) =>
    tool !== null && suffixOf(tool) === file ? tool : [],
  );
  return [...stillCounts, ...approved];
}

function parseTools(text: string): readonly RememberedTool[] | undefined {
  const value = parseJson(text);
  const tools: unknown = isObject(value) ? value['tools'] : undefined;
  return Array.isArray(tools) && tools.every(isTool) ? tools : undefined;
}

function isTool(value: unknown): value is RememberedTool {
  if (!isObject(value) || typeof value['name'] !== 'string' || !isObject(value['inputSchema'])) return false;
  const { fingerprint } = value;
  return fingerprint === undefined || (typeof fingerprint === 'string' && HASH.test(fingerprint));
}

async function setAside(file: string, error: unknown): Promise<undefined> {
  if (!(error instanceof BrokenBaseline)) throw error;
  await moveAside(file);
}

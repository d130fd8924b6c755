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
import { createHash, randomBytes } from 'node:crypto';
import { watch } from 'node:fs';
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { thisMachine } from '../config/places.js';
import { isObject } from '../config/read-shape.js';
import { isAbsence } from '../config/sources.js';
import { createPrivately, writePrivately } from '../write-privately.js';
import { toReviewed, type ReviewedTool } from './fingerprint.js';
import type { ReviewedServer, ReviewStore } from './review-store.js';

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
  const makeFolder = async (): Promise<string> => {
    const folder = options.folder ?? (await defaultFolder());
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return folder;
  };
  return {
    baseline: async (server, first) => {
      const folder = await makeFolder();
      const file = join(folder, baselineName(server));
      const known = (await readBaseline(file)) ?? (await beginWith(file, server, first));
      return withLater(known, await readLater(folder, server));
    },
    approve: async (server, tools) => {
      const folder = await makeFolder();
      const file = join(folder, baselineName(server));
      const known = await readBaseline(file).catch((error: unknown) => setAside(file, error));
      if (known === undefined) await createPrivately(file, toText(server, []));
      await Promise.all(
        tools.map((tool) =>
          writePrivately(join(folder, `${server.hash}.${suffixOf(tool)}`), toText(server, [tool])),
        ),
      );
    },
    watch: (onChange) => {
      let stop = (): void => {};
      let isOver = false;
      const begin = async (): Promise<void> => {
        const folder = await makeFolder();
        if (!isOver) stop = watchFolder(folder, onChange);
      };
      // Without a watch the approval is found at the next start.
      begin().catch(() => {});
      return () => {
        isOver = true;
        stop();
      };
    },
  };
}

async function defaultFolder(): Promise<string> {
  const { ownFolder } = await thisMachine(process.env);
  return join(ownFolder, 'reviews');
}

function baselineName({ hash }: ReviewedServer): string {
  if (!HASH.test(hash)) throw new TypeError('The hash of a server has 64 hexadecimal digits.');
  return `${hash}.json`;
}

/** What its file is called beside the hash of the server. In UTF-8 all lone surrogates would look alike. */
function suffixOf({ name }: ReviewedTool): string {
  return `${createHash('sha256').update(name, 'utf16le').digest('hex')}.json`;
}

function watchFolder(folder: string, onChange: (hash: string) => void): () => void {
  const watcher = watch(folder, { persistent: false }, (_, changed) => {
    const hash = OURS.exec(changed ?? '')?.[1];
    if (hash !== undefined) onChange(hash);
  });
  watcher.on('error', () => watcher.close());
  return () => watcher.close();
}

/** Another process may have been faster: then its list is the one. */
async function beginWith(
  file: string,
  server: ReviewedServer,
  first: readonly ReviewedTool[],
): Promise<readonly ReviewedTool[]> {
  if (await createPrivately(file, toText(server, first))) return first;
  return (await readBaseline(file)) ?? [];
}

/** The name of the server is for whoever looks into the file. */
function toText({ server }: ReviewedServer, tools: readonly ReviewedTool[]): string {
  return `${JSON.stringify({ server, tools: tools.map(toReviewed) }, null, 2)}\n`;
}

/** Undefined where there is none. Rejects where there is a file that is none. */
async function readBaseline(file: string): Promise<readonly ReviewedTool[] | undefined> {
  const text = await readText(file);
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
): Promise<ReadonlyMap<string, ReviewedTool | null>> {
  const names = (await readdir(folder)).filter((name) => {
    const [, owner, isLater] = OURS.exec(name) ?? [];
    return owner === hash && isLater !== undefined;
  });
  const entries = names.map(async (name) => {
    const text = await readText(join(folder, name));
    return [name.slice(`${hash}.`.length), parseTools(text ?? '')?.[0] ?? null] as const;
  });
  return new Map(await Promise.all(entries));
}

/** What was approved later takes the place of the tool of its name. */
function withLater(
  known: readonly ReviewedTool[],
  later: ReadonlyMap<string, ReviewedTool | null>,
): readonly ReviewedTool[] {
  const stillCounts = known.filter((tool) => !later.has(suffixOf(tool)));
  const approved = [...later].flatMap(([file, tool]) =>
    tool !== null && suffixOf(tool) === file ? tool : [],
  );
  return [...stillCounts, ...approved];
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

function parseTools(text: string): readonly ReviewedTool[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const tools: unknown = isObject(value) ? value['tools'] : undefined;
    return Array.isArray(tools) && tools.every(isTool) ? tools : undefined;
  } catch {
    return undefined;
  }
}

function isTool(value: unknown): value is ReviewedTool {
  return isObject(value) && typeof value['name'] === 'string' && isObject(value['inputSchema']);
}

/** A broken one is kept for whoever wants to know; another process may have been faster. */
async function setAside(file: string, error: unknown): Promise<undefined> {
  if (!(error instanceof BrokenBaseline)) throw error;
  try {
    await rename(file, `${file}.${randomBytes(4).toString('hex')}.broken`);
  } catch (failed) {
    if (!isAbsence(failed)) throw failed;
  }
}

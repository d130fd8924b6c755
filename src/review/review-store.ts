/** Where accepted tools are kept: the port, and a store in memory. */
import type { ReviewedServer } from '../catalog/catalogs.js';
import type { ReviewedTool } from '../../machines/policy/review.js';
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../config/entry/read-shape.js';
import { storeFolder, type StoreHost } from '../config/files/user-store.js';
import { makeFolder, watchFolder } from '../storage/folders.js';
import { quarantineFile, readStored, createFileAtomic, writeFileAtomic } from '../storage/stored-file.js';
import { parseJson } from '../json/parse-json.js';
import { toReviewed } from '../catalog/tool-fingerprint.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';

/** An accepted tool in the store. */
export interface RememberedTool extends ReviewedTool {
  /**
   * Fingerprint of the tool as the server had it. Present if a secret of the entry was removed, so that it
   * cannot be computed from this record.
   */
  readonly fingerprint?: string;
}

/**
 * Stores accepted tools. If a method rejects or takes longer than 10 s, every tool of the server is held and
 * a `diagnostic` is published. Processes that share a store must not remove each other's acceptances.
 */
export interface ReviewStore {
  /**
   * The accepted tools of a server. If there are none yet, `first` becomes the baseline atomically, for every
   * process. A list that could not be stored must not be returned.
   *
   * @param server The server; its `hash` identifies it across processes.
   * @param first The tools that the server lists now.
   */
  baseline(
    server: ReviewedServer,
    first: readonly RememberedTool[],
  ): Promise<readonly RememberedTool[]> | readonly RememberedTool[];
  /**
   * Stores accepted tools. Other tools of the server stay as they are.
   *
   * @param server The server; its `hash` identifies it across processes.
   * @param tools The accepted tools. Each replaces the accepted tool of the same name.
   */
  accept(server: ReviewedServer, tools: readonly RememberedTool[]): Promise<void> | void;
  /**
   * Calls `onChange` with the hash of a server when another process has changed its accepted tools, until the
   * returned function is called. Without it, such an acceptance counts for the next start.
   *
   * @param onChange Called with the `hash` of the server. It may be called without a change.
   */
  watch?(onChange: (hash: string) => void): () => void;
}

/**
 * Keeps accepted tools until the process ends.
 *
 * @example
 * ```ts
 * import { createMemoryReviewStore, createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json', review: { mode: 'hold-changes', store: createMemoryReviewStore() } });
 * ```
 */
export function createMemoryReviewStore(): ReviewStore {
  return createOwnReviewStore().store;
}

/** Most removed servers that are remembered, since they may come back; the oldest are forgotten first. */
const MAX_GONE = 1_000;

export interface OwnReviewStore {
  readonly store: ReviewStore;
  /** Called when a server is removed; it may come back. Undefined for a store of the host. */
  readonly gone?: ((server: ReviewedServer) => void) | undefined;
  /** Whether anything of the server is accepted. Undefined for a store of the host. */
  readonly knows?: ((server: ReviewedServer) => boolean) | undefined;
}

/** A store whose size does not grow with removed servers. */
export function createOwnReviewStore(): OwnReviewStore {
  const servers = new Map<string, readonly RememberedTool[]>();
  const gone = new Set<string>();
  return {
    store: {
      baseline: ({ hash }, first) => {
        gone.delete(hash);
        const known = servers.get(hash) ?? [...first];
        servers.set(hash, known);
        return [...known];
      },
      accept: ({ hash }, tools) => {
        const now = new Map([...(servers.get(hash) ?? []), ...tools].map((tool) => [tool.name, tool]));
        servers.set(hash, [...now.values()]);
      },
    },
    gone: ({ hash }) => {
      gone.delete(hash);
      gone.add(hash);
      for (const oldest of gone) {
        if (gone.size <= MAX_GONE) break;
        gone.delete(oldest);
        servers.delete(oldest);
      }
    },
    knows: (server) => servers.size > 0 && servers.has(server.hash),
  };
}

// Accepted tools as files that only the user can read: for each server the baseline, `HASH.json`, and one file for each
// tool that was accepted later, `HASH.TOOL.json`.
//
// F1. A file is written whole or not at all. The baseline is created only if there is none, and no two tools share a
//     file, so concurrent processes lose none of each other's acceptances and need no lock.
// F2. A baseline that cannot be parsed is reported, and the server never counts as new. The next acceptance moves the
//     file aside and puts an empty baseline in its place.
// F3. A tool whose file cannot be parsed counts as not accepted, whatever the baseline says.

/** Options of `createFileReviewStore`. */
export interface FileReviewStoreOptions extends StoreHost {
  /**
   * Folder of the files; created when first needed, readable by the user alone. Default: `reviews` in
   * Troupe's folder of the user's configuration, which the `troupe` command uses too. Unlike a folder that is named here, the
   * default is not used if it lies inside the project that the host works in.
   */
  readonly folder?: string;
}

const NAMES: OptionNames<FileReviewStoreOptions> = { folder: true, cwd: true };

const HASH = /^[0-9a-f]{64}$/;
/** The names of the store's files, with the hash of the server. */
const OURS = /^([0-9a-f]{64})(\.[0-9a-f]{64})?\.json$/;

/**
 * Keeps accepted tools in files that all processes of the user share, including the `troupe` command. Methods
 * reject as `node:fs` does if the files cannot be used.
 *
 * @param options The folder of the files. Default: `reviews` in Troupe's folder of the user's configuration.
 *
 * @example
 * ```ts
 * import { createFileReviewStore, createTroupe } from 'mcp-troupe';
 *
 * const troupe = createTroupe({ config: '.mcp.json', review: { mode: 'hold-changes', store: createFileReviewStore() } });
 * ```
 */
export function createFileReviewStore(options: FileReviewStoreOptions = {}): ReviewStore {
  requireKnown('createFileReviewStore', options, NAMES);
  const place = storeFolder(options, 'config', 'reviews');
  const madeFolder = async (): Promise<string> => {
    const folder = await place();
    makeFolder(folder);
    return folder;
  };
  /** The content that this process wrote last, by name of the file. */
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
    accept: async (server, tools) => {
      const folder = await madeFolder();
      const file = join(folder, baselineName(server));
      const known = await readBaseline(file).catch((error: unknown) => setAside(file, error));
      if (known === undefined) await createFileAtomic(file, toText(server, []));
      for (const tool of tools) {
        const name = `${server.hash}.${suffixOf(tool)}`;
        const text = toText(server, [tool]);
        own.set(name, text);
        await writeFileAtomic(join(folder, name), text);
      }
    },
    // Without a watch, an acceptance is found at the next start.
    watch: (onChange) => {
      let isOver = false;
      const report = async (folder: string, name: string, hash: string): Promise<void> => {
        if (!(await isOwn(folder, name)) && !isOver) onChange(hash);
      };
      const stop = watchFolder(place(), (file, folder) => {
        const [name, hash] = OURS.exec(file ?? '') ?? [];
        if (name !== undefined && hash !== undefined) void report(folder, name, hash);
      });
      return () => {
        isOver = true;
        stop();
      };
    },
  };
}

function baselineName({ hash }: ReviewedServer): string {
  if (!HASH.test(hash)) throw new TypeError('The hash of a server must have 64 hexadecimal digits.');
  return `${hash}.json`;
}

/** The part of the file name after the hash of the server. UTF-16, since in UTF-8 all lone surrogates look alike. */
function suffixOf({ name }: RememberedTool): string {
  return `${createHash('sha256').update(name, 'utf16le').digest('hex')}.json`;
}

/** If another process was faster, its list is the baseline. */
async function beginWith(
  file: string,
  server: ReviewedServer,
  first: readonly RememberedTool[],
): Promise<readonly RememberedTool[]> {
  if (await createFileAtomic(file, toText(server, first))) return first;
  return (await readBaseline(file)) ?? [];
}

/** The name of the server is for people who read the file. */
function toText({ server }: ReviewedServer, tools: readonly RememberedTool[]): string {
  return `${JSON.stringify({ server, tools: tools.map(toRemembered) }, null, 2)}\n`;
}

export function toRemembered(tool: RememberedTool): RememberedTool {
  const { fingerprint } = tool;
  return { ...toReviewed(tool), ...(fingerprint === undefined ? {} : { fingerprint }) };
}

/** Undefined if there is no file. Rejects if the file is not a baseline. */
async function readBaseline(file: string): Promise<readonly RememberedTool[] | undefined> {
  const text = await readStored(file);
  if (text === undefined) return undefined;
  const tools = parseTools(text);
  if (tools === undefined) throw new BrokenBaseline(file);
  return tools;
}

class BrokenBaseline extends Error {
  constructor(file: string) {
    super(`${file} cannot be parsed and is ignored; accept the tools again, and it is moved aside`);
  }
}

/** The tools that were accepted later, by the suffix of their file; null if a file cannot be parsed. */
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

/** Tools that were accepted later replace those of the same name. */
function withLater(
  known: readonly RememberedTool[],
  later: ReadonlyMap<string, RememberedTool | null>,
): readonly RememberedTool[] {
  const stillCounts = known.filter((tool) => !later.has(suffixOf(tool)));
  const accepted = [...later].flatMap(([file, tool]) =>
    tool !== null && suffixOf(tool) === file ? tool : [],
  );
  return [...stillCounts, ...accepted];
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
  await quarantineFile(file);
}

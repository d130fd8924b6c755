/**
 * The contents of the files that an entry runs, for the policy `contents`: the program, the arguments that are files, and
 * the file of variables. Only this policy reads a file of an entry before it is trusted.
 *
 * C1. What the program loads besides, such as the modules of a script or a downloaded package, is not read.
 * C2. Never rejects: a file that cannot be read counts as `unreadable`, so trust ends when it can be read.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expandConfig } from '../config/entry/expand.js';
import type { ServerConfig } from '../config/entry/server-config.js';
import type { ServerSpec } from '../config/entry/server-spec.js';
import { realOf } from '../config/files/project-root.js';
import { programPlaces } from '../platform/find-program.js';

/** Absolute paths without links, and the SHA-256 of each file, in hex. */
export type Contents = Readonly<Record<string, string>>;

export interface ContentsContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string | undefined;
}

/** Variables are replaced as far as they are set. */
export async function contentsOf(
  { name, baseDir, fileDir = baseDir, config }: Pick<ServerSpec, 'name' | 'baseDir' | 'fileDir' | 'config'>,
  { env, home }: ContentsContext,
): Promise<Contents> {
  const context = { env, home, workspaceFolder: baseDir, missing: 'empty' } as const;
  const expansion = expandConfig({ name, baseDir, config }, context);
  if ('failure' in expansion) return {};
  const files = await Promise.all(placesIn(expansion.config, { baseDir, fileDir }, env).map(firstFile));
  const found = [...new Set(files.flatMap((file) => file ?? []))].toSorted();
  return Object.fromEntries(
    await Promise.all(found.map(async (file) => [file, await hashOfFile(file)] as const)),
  );
}

/** For each word the paths where its file may be; the first one that exists counts. */
function placesIn(
  config: ServerConfig,
  { baseDir, fileDir }: { readonly baseDir: string; readonly fileDir: string },
  env: ContentsContext['env'],
): readonly (readonly string[])[] {
  if ('url' in config) {
    const words = config.headersHelper?.split(/[\s;&|"']+/) ?? [];
    return words.filter((word) => word !== '').map((word) => inPath(word, baseDir, env['PATH']));
  }
  if (!('command' in config)) return [];
  const { command, args = [], cwd = baseDir, envFile } = config;
  const values = args.flatMap((arg) => [arg, ...(/^-[^=]*=(.+)$/s.exec(arg)?.slice(1) ?? [])]);
  return [
    inPath(command, cwd, config.env?.['PATH'] ?? env['PATH']),
    ...values.map((value) => [resolve(cwd, value)]),
    ...(envFile === undefined ? [] : [[resolve(fileDir, envFile), resolve(baseDir, envFile)]]),
  ];
}

function inPath(command: string, cwd: string, searchPath: string | undefined): readonly string[] {
  return programPlaces(command, { cwd, env: { PATH: searchPath } });
}

async function firstFile(places: readonly string[]): Promise<string | undefined> {
  for (const place of places) {
    const stats = await stat(place).catch(() => undefined);
    if (stats?.isFile() === true) return realOf(place);
  }
  return undefined;
}

async function hashOfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
    return hash.digest('hex');
  } catch {
    return 'unreadable';
  }
}

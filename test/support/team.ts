/** Configurations of real and of faulty servers, in a folder of the suite. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';

const project = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const official = (name: string): string =>
  project(`node_modules/@modelcontextprotocol/server-${name}/dist/index.js`);

export const EVERYTHING = { command: process.execPath, args: [official('everything')] };
/** Starts quickly. */
export const QUICK = { command: process.execPath, args: [project('test/support/quick-server.mjs')] };
export const MISSING = { command: 'no-such-command' };
export const CRASHING = {
  command: process.execPath,
  args: ['-e', 'console.error("cannot open the \\u001B[31mdatabase\\u001B[0m"); process.exit(3)'],
};

/** The file system server, limited to a folder. */
export function filesIn(folder: string) {
  return { command: process.execPath, args: [official('filesystem'), folder] };
}

/** A server of the fault kit. */
export function faulty(mode: string, ...more: readonly string[]) {
  return {
    command: process.execPath,
    args: [project('tools/faults/kit/faulty-stdio.mjs'), `--mode=${mode}`, ...more],
  };
}

export interface Team {
  readonly folder: string;
  /** Writes a configuration file and returns its path. */
  write(name: string, servers: Readonly<Record<string, unknown>>): string;
}

/** A folder for the suite of the calling file, removed after its last test. */
export function useTeam(): () => Team {
  let folder = '';
  beforeAll(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-cli-')));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => ({
    folder,
    write: (name, servers) => {
      const path = join(folder, name);
      writeFileSync(path, JSON.stringify({ mcpServers: servers }, null, 2));
      return path;
    },
  });
}

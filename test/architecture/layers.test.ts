/**
 * The allowed imports. A room is a folder of `src/`, a file beside these folders, or `machines/`. Each imports only from
 * rooms below it, types included, without exceptions: code that two rooms share is below both.
 */
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ImportGraph, cycles, graphOf, readFiles } from '../../tools/import-graph.mjs';

/** From the lowest to the highest. */
const ROOMS = [
  'src/mcp',
  'machines',
  'src/ports.ts',
  'src/package.ts',
  'src/diagnostic-kind.ts',
  'src/platform',
  'src/text',
  'src/errors.ts',
  'src/async',
  'src/json',
  'src/schemas',
  'src/charts',
  'src/actor-system',
  'src/failures',
  'src/storage',
  'src/config',
  'src/results',
  'src/secrets',
  'src/trust',
  'src/lifecycle',
  'src/transports',
  'src/protocol',
  'src/telemetry',
  'src/event-log',
  'src/catalog',
  'src/search',
  'src/sessions',
  'src/review',
  'src/server-requests',
  'src/calls',
  'src/requests',
  'src/actors',
  'src/auth',
  'src/fleet',
  'src/adapters',
  'src/options.ts',
  'src/supervision',
  'src/servers',
  'src/inspector',
  'src/runtime',
  'src/xstate',
  'src/testing',
  'src/fixtures',
  'src/gateway',
  'src/cli',
  'src/index.ts',
];

/** The folders in a room, from the lowest to the highest. Files beside them may be above or below. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  machines: ['policy', 'configuration', 'connection', 'manager', 'review', 'sign-in', 'lease'],
  'src/auth': ['stores', 'account'],
  'src/testing': ['http', 'walks'],
  'src/cli': [
    'arguments',
    'output',
    'prompts',
    'background',
    'console',
    'serving',
    'recordings',
    'commands',
    'declarations',
  ],
  'src/config': ['entry', 'hosts', 'files'],
  'src/event-log': ['format', 'record', 'replay', 'report'],
  'src/gateway': ['upstream', 'client', 'http', 'stdio', 'metrics'],
  'src/transports': ['http', 'stdio'],
};
const ORDER = ROOMS.flatMap((room) => [...(FOLDERS[room] ?? []).map((folder) => `${room}/${folder}`), room]);

const project = graphOf(readFiles(['src', 'machines'], '.ts'));

const sources = (files: Record<string, string>): ImportGraph => graphOf(new Map(Object.entries(files)));

function isIn(path: string, place: string): boolean {
  return path === place || path.startsWith(`${place}/`);
}

/** Imports of one of the places from an earlier one or from a file in none of them. */
function upwardImports(graph: ImportGraph, places: readonly string[]): string[] {
  const placeOf = (path: string): number => places.findIndex((place) => isIn(path, place));
  return [...graph].flatMap(([path, imports]) =>
    imports
      .filter(({ specifier }) => graph.has(specifier) && placeOf(path) < placeOf(specifier))
      .map(({ specifier }) => `${path} imports ${specifier}`),
  );
}

/** Every file and folder directly in `folder`, with the neighbours that it imports. */
function neighbours(graph: ImportGraph, folder: string): ImportGraph {
  const partOf = (path: string): string => `${folder}/${path.slice(folder.length + 1).split('/')[0]}`;
  const parts = new Map<string, { specifier: string; kind: 'type' }[]>();
  for (const [path, imports] of graph) {
    if (!isIn(path, folder)) continue;
    const part = partOf(path);
    const others = imports
      .map(({ specifier }) => specifier)
      .filter((specifier) => graph.has(specifier) && isIn(specifier, folder) && partOf(specifier) !== part)
      .map((specifier) => ({ specifier: partOf(specifier), kind: 'type' as const }));
    parts.set(part, [...(parts.get(part) ?? []), ...others]);
  }
  return parts;
}

function foldersIn(graph: ImportGraph): string[] {
  const folders = [...graph.keys()].flatMap((path) => {
    const steps = posix.dirname(path).split('/');
    return steps.map((_, index) => steps.slice(0, index + 1).join('/'));
  });
  return [...new Set(folders)];
}

/** The paths on which a folder imports itself through its neighbours. */
function foldersInCycles(graph: ImportGraph): string[] {
  const folders = new Set(foldersIn(graph));
  return [...folders]
    .flatMap((folder) => cycles(neighbours(graph, folder), ['type']))
    .filter((way) => folders.has(way.split(' → ')[0]!));
}

function sharedNames(paths: Iterable<string>): string[] {
  const names = [...paths].map((path) => posix.basename(path)).filter((name) => name !== 'index.ts');
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

describe('the layers', () => {
  it('include every file, and every room has a file.', () => {
    const paths = [...project.keys()];
    expect(paths.filter((path) => !ROOMS.some((room) => isIn(path, room)))).toEqual([]);
    expect(ORDER.filter((place) => !paths.some((path) => isIn(path, place)))).toEqual([]);
    const inRooms = foldersIn(project).filter((folder) => folder !== 'src');
    expect(inRooms.filter((folder) => !ORDER.includes(folder))).toEqual([]);
  });

  it('import only from rooms below, types included.', () => {
    const broken = sources({
      'src/a/one.ts': `import type { Two } from '../b/two.js';`,
      'src/b/two.ts': `export type { One } from '../a/one.js'; const later = () => import('../c.js');`,
      'src/c.ts': `import './b/two.js';`,
    });
    expect(upwardImports(broken, ['src/a', 'src/b', 'src/c.ts'])).toEqual([
      'src/a/one.ts imports src/b/two.ts',
      'src/b/two.ts imports src/c.ts',
    ]);
    expect(upwardImports(project, ROOMS)).toEqual([]);
  });

  it('are ordered inside a room, too.', () => {
    for (const [room, folders] of Object.entries(FOLDERS)) {
      const inFolders = new Map(
        [...project].filter(([path]) => folders.some((folder) => isIn(path, `${room}/${folder}`))),
      );
      const places = folders.map((folder) => `${room}/${folder}`);
      expect(upwardImports(inFolders, places)).toEqual([]);
    }
  });

  it('have no folder that imports itself through its neighbours.', () => {
    const broken = sources({
      'src/a/b/one.ts': `import type { Two } from '../two.js';`,
      'src/a/two.ts': `import type { Three } from './c/three.js';`,
      'src/a/c/three.ts': `import type { One } from '../b/one.js';`,
      'src/a/d.ts': `import type { E } from './e.js'; import './b/one.js';`,
      'src/a/e.ts': `import type { D } from './d.js';`,
    });
    expect(foldersInCycles(broken)).toEqual([
      'src/a/b → src/a/two.ts → src/a/c → src/a/b',
      'src/a/c → src/a/b → src/a/two.ts → src/a/c',
    ]);
    expect(foldersInCycles(project)).toEqual([]);
  });

  it('have no two files of the same name, except index.ts.', () => {
    expect(sharedNames(['src/a/one.ts', 'src/b/one.ts', 'src/a/index.ts', 'src/b/index.ts'])).toEqual([
      'one.ts',
    ]);
    expect(sharedNames(project.keys())).toEqual([]);
  });
});

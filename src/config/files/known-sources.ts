/** The files to look for, as data: each row is the convention of one host. Their order is their precedence. */
import { translateCodex, translateGoose, translateOpencode } from '../hosts/agents.js';
import {
  translateClaudeCode,
  translateCline,
  translateGemini,
  translatePlain,
  translateWindsurf,
  translateZed,
} from '../hosts/editors.js';
import type { Translate } from '../hosts/translation.js';
import { layoutOf, type Layout } from './layout.js';
import { platformOf, THIS_PLATFORM, type Platform } from '../../platform/platform.js';
import { homeFolder, userFolder } from '../../storage/folders.js';

/** Where a file is, with `/` between the parts of its path. */
export interface FileLocation {
  readonly in: Base;
  readonly path: string;
  /** A variable that names the folder instead, and the rest of `path` from there. */
  readonly moved?: readonly [variable: string, path: string];
}

export interface KnownSource {
  readonly kind: string;
  readonly scope: 'project' | 'user';
  readonly files: readonly FileLocation[];
  /** The locations on Windows, if they differ. */
  readonly windows?: readonly FileLocation[];
  readonly layout: (root: string | undefined) => Layout;
}

/** A file that only holds servers may follow another host's conventions than its own. */
const SERVERS_JSON = layoutOf('.json');
const SETTINGS_JSON: Layout = { ...json(['mcpServers'], translatePlain), isSettings: true };
const CLAUDE_CODE: Layout = { ...json(['mcpServers'], translateClaudeCode), isSettings: true };
const always = (layout: Layout) => () => layout;

export const KNOWN_SOURCES: readonly KnownSource[] = [
  project('mcp.json', '.mcp.json', SERVERS_JSON),
  project('vscode', '.vscode/mcp.json', SERVERS_JSON),
  project('cursor', '.cursor/mcp.json', SERVERS_JSON),
  {
    ...project('claude-code', '.claude/settings.json', CLAUDE_CODE),
    files: [
      { in: 'project', path: '.claude/settings.json' },
      { in: 'project', path: '.claude/settings.local.json' },
    ],
  },
  user('troupe', [{ in: 'own', path: 'mcp.json' }], SERVERS_JSON),
  user('claude-desktop', [{ in: 'appData', path: 'Claude/claude_desktop_config.json' }], {
    ...SETTINGS_JSON,
    expands: [],
  }),
  {
    kind: 'claude-code',
    scope: 'user',
    files: [
      { in: 'home', path: '.claude.json', moved: ['CLAUDE_CONFIG_DIR', '.claude.json'] },
      { in: 'home', path: '.claude/settings.json', moved: ['CLAUDE_CONFIG_DIR', 'settings.json'] },
    ],
    // A user's entry for one project takes precedence over the user's global one.
    layout: (root) => ({
      ...CLAUDE_CODE,
      holders: [
        ...CLAUDE_CODE.holders,
        ...(root === undefined
          ? []
          : [{ path: ['projects', root, 'mcpServers'], translate: translateClaudeCode }]),
      ],
    }),
  },
  user(
    'vscode',
    [
      { in: 'appData', path: 'Code/User/mcp.json' },
      { in: 'appData', path: 'Code - Insiders/User/mcp.json' },
    ],
    SERVERS_JSON,
  ),
  user('cursor', [{ in: 'home', path: '.cursor/mcp.json' }], SERVERS_JSON),
  user(
    'windsurf',
    [{ in: 'home', path: '.codeium/windsurf/mcp_config.json' }],
    json(['mcpServers'], translateWindsurf),
  ),
  {
    ...user('zed', [{ in: 'dotConfig', path: 'zed/settings.json' }], {
      ...json(['context_servers'], translateZed),
      isSettings: true,
      expands: [],
    }),
    windows: [{ in: 'appData', path: 'Zed/settings.json' }],
  },
  user('gemini', [{ in: 'home', path: '.gemini/settings.json' }], {
    ...json(['mcpServers'], translateGemini),
    isSettings: true,
  }),
  user('codex', [{ in: 'home', path: '.codex/config.toml', moved: ['CODEX_HOME', 'config.toml'] }], {
    syntax: 'toml',
    holders: [{ path: ['mcp_servers'], translate: translateCodex }],
    isSettings: true,
    expands: [],
  }),
  user(
    'opencode',
    [
      { in: 'dotConfig', path: 'opencode/opencode.json' },
      { in: 'dotConfig', path: 'opencode/opencode.jsonc' },
    ],
    { ...json(['mcp'], translateOpencode), isSettings: true, expands: [] },
  ),
  user(
    'cline',
    [
      {
        in: 'appData',
        path: 'Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
      },
      { in: 'home', path: '.cline/data/settings/cline_mcp_settings.json' },
    ],
    json(['mcpServers'], translateCline),
  ),
  {
    ...user('goose', [{ in: 'dotConfig', path: 'goose/config.yaml' }], {
      syntax: 'yaml',
      holders: [{ path: ['extensions'], translate: translateGoose }],
      isSettings: true,
      expands: ['headers'],
    }),
    windows: [{ in: 'appData', path: 'Block/goose/config/config.yaml' }],
  },
];

function project(kind: string, path: string, layout: Layout): KnownSource {
  return { kind, scope: 'project', files: [{ in: 'project', path }], layout: always(layout) };
}

function user(kind: string, files: readonly FileLocation[], layout: Layout): KnownSource {
  return { kind, scope: 'user', files, layout: always(layout) };
}

function json(path: readonly string[], translate: Translate): Layout {
  return { syntax: 'json', holders: [{ path, translate }] };
}

// Where programs keep a user's configuration, by platform. Pure except for `thisMachine`: all facts about the machine
// are parameters.

/** A machine and its user. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  /** The user's home folder; undefined if it is unknown. */
  readonly home: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Troupe's own configuration folder; undefined if it is unknown. */
  readonly ownFolder: string | undefined;
}

/**
 * `own`: Troupe's folder. `appData`: the folder of desktop programs. `dotConfig`: `~/.config`, or the folder in
 * `XDG_CONFIG_HOME`.
 */
export type Base = 'project' | 'home' | 'own' | 'appData' | 'dotConfig';

/** The machine this process runs on. */
export async function thisMachine(env: Machine['env']): Promise<Machine> {
  const ownFolder = await userFolder('config').catch(() => undefined);
  return { platform: THIS_PLATFORM.name, home: homeFolder(), env, ownFolder };
}

/** Undefined if it would be in an unknown home folder. */
export function baseFolder(base: Exclude<Base, 'project'>, machine: Machine): string | undefined {
  const { home, ownFolder } = machine;
  const atHome = (...parts: string[]) =>
    home === undefined ? undefined : pathsOf(machine).join(home, ...parts);
  switch (base) {
    case 'home':
      return home;
    case 'own':
      return ownFolder;
    case 'dotConfig':
      return folderIn('XDG_CONFIG_HOME', machine) ?? atHome('.config');
    case 'appData':
      if (machine.platform === 'win32') return folderIn('APPDATA', machine) ?? atHome('AppData', 'Roaming');
      if (machine.platform === 'darwin') return atHome('Library', 'Application Support');
      return baseFolder('dotConfig', machine);
  }
}

/**
 * The folder that a variable names. A relative path is ignored: it would lead into the project, whose files would count as
 * the user's.
 */
export function folderIn(variable: string, machine: Pick<Machine, 'platform' | 'env'>): string | undefined {
  const folder = machine.env[variable];
  return folder && pathsOf(machine).isAbsolute(folder) ? folder : undefined;
}

/** Those of these variables that are set and ignored. */
export function ignoredVariables(variables: readonly string[], machine: Machine): readonly string[] {
  return variables.filter((name) => machine.env[name] && folderIn(name, machine) === undefined);
}

/** Path functions of the machine's platform. */
export function pathsOf({ platform }: Pick<Machine, 'platform'>): Platform['paths'] {
  return platformOf(platform).paths;
}

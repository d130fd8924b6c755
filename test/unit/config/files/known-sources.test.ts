import { describe, expect, it } from 'vitest';
import { toSources } from '../../../../src/config/files/file-discovery.js';
import { KNOWN_SOURCES, type Machine } from '../../../../src/config/files/known-sources.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const LINUX: Machine = {
  platform: 'linux',
  home: '/home/ada',
  env: {},
  ownFolder: '/home/ada/.config/troupe',
};
const MAC: Machine = {
  platform: 'darwin',
  home: '/home/ada',
  env: {},
  ownFolder: '/home/ada/Library/Preferences/troupe',
};
const WINDOWS: Machine = {
  platform: 'win32',
  home: 'C:\\Users\\ada',
  env: {},
  ownFolder: 'C:\\Users\\ada\\AppData\\Roaming\\troupe\\Config',
};

function pathsOn(machine: Machine, root?: string): readonly string[] {
  return KNOWN_SOURCES.flatMap((row) => toSources(row, root, machine)).map(
    ({ kind, path }) => `${kind ?? ''} ${path}`,
  );
}

describe('the known configuration files', () => {
  it('are those of the project and of folders in variables if the home folder is unknown.', () => {
    const env = { XDG_CONFIG_HOME: '/etc/agent', CODEX_HOME: '/srv/codex' };
    const homeless: Machine = { platform: 'linux', home: undefined, env, ownFolder: undefined };
    const folders = pathsOn(homeless, '/srv/project').map((path) => path.split('/').slice(1, 3).join('/'));
    expect(new Set(folders)).toEqual(new Set(['srv/project', 'etc/agent', 'srv/codex']));
    expect(pathsOn({ ...homeless, env: {} })).toEqual([]);
  });

  it('are in order of precedence, the project’s first.', () => {
    const files = KNOWN_SOURCES.flatMap((row) => toSources(row, '/srv/project', LINUX));
    expect(files.map(({ scope, display }) => `${scope} ${display}`)).toEqual([
      'project .mcp.json',
      'project .vscode/mcp.json',
      'project .cursor/mcp.json',
      'project .claude/settings.json',
      'project .claude/settings.local.json',
      'user ~/.config/troupe/mcp.json',
      'user ~/.config/Claude/claude_desktop_config.json',
      'user ~/.claude.json',
      'user ~/.claude/settings.json',
      'user ~/.config/Code/User/mcp.json',
      'user ~/.config/Code - Insiders/User/mcp.json',
      'user ~/.cursor/mcp.json',
      'user ~/.codeium/windsurf/mcp_config.json',
      'user ~/.config/zed/settings.json',
      'user ~/.gemini/settings.json',
      'user ~/.codex/config.toml',
      'user ~/.config/opencode/opencode.json',
      'user ~/.config/opencode/opencode.jsonc',
      'user ~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
      'user ~/.cline/data/settings/cline_mcp_settings.json',
      'user ~/.config/goose/config.yaml',
    ]);
  });

  it('are those of the user only if there is no project.', () => {
    expect(pathsOn(LINUX).filter((path) => path.startsWith('mcp.json'))).toEqual([]);
  });

  it('have other paths on macOS.', () => {
    expect(pathsOn(MAC)).toEqual(
      expect.arrayContaining([
        'troupe /home/ada/Library/Preferences/troupe/mcp.json',
        'claude-desktop /home/ada/Library/Application Support/Claude/claude_desktop_config.json',
        'vscode /home/ada/Library/Application Support/Code/User/mcp.json',
        'zed /home/ada/.config/zed/settings.json',
        'goose /home/ada/.config/goose/config.yaml',
      ]),
    );
  });

  it('have other paths on Windows.', () => {
    expect(pathsOn(WINDOWS)).toEqual(
      expect.arrayContaining([
        'troupe C:\\Users\\ada\\AppData\\Roaming\\troupe\\Config\\mcp.json',
        'claude-desktop C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json',
        'cursor C:\\Users\\ada\\.cursor\\mcp.json',
        'zed C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json',
        'goose C:\\Users\\ada\\AppData\\Roaming\\Block\\goose\\config\\config.yaml',
      ]),
    );
  });

  it.each([
    [LINUX, 'XDG_CONFIG_HOME', '/cfg', 'zed /cfg/zed/settings.json'],
    [LINUX, 'XDG_CONFIG_HOME', '/cfg', 'claude-desktop /cfg/Claude/claude_desktop_config.json'],
    [MAC, 'XDG_CONFIG_HOME', '/cfg', 'opencode /cfg/opencode/opencode.json'],
    [WINDOWS, 'APPDATA', 'D:\\Data', 'vscode D:\\Data\\Code\\User\\mcp.json'],
    [LINUX, 'CODEX_HOME', '/codex', 'codex /codex/config.toml'],
    [LINUX, 'CLAUDE_CONFIG_DIR', '/claude', 'claude-code /claude/.claude.json'],
    [LINUX, 'CODEX_HOME', '', 'codex /home/ada/.codex/config.toml'],
  ])('are moved by a variable: %#', (machine, variable, folder, path) => {
    expect(pathsOn({ ...machine, env: { [variable]: folder } })).toContain(path);
  });
});

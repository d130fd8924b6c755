/** What the help and the man page say about the surroundings of the command. */
import type { ExitCode } from '../exit.js';

export const EXIT_CODES: Readonly<Record<ExitCode, string>> = {
  0: 'success',
  1: 'an operation failed',
  2: 'invalid command line or configuration',
};

/** Environment variables that the command reads, and what they do. */
export const VARIABLES: Readonly<Record<string, string>> = {
  TROUPE_SERVE_TOKEN: "token that HTTP clients of 'serve' must send",
  'TROUPE_SERVE_*':
    "flags of 'serve': TROUPE_SERVE_HTTP is --http, TROUPE_SERVE_FAIL_CLOSED is --fail-closed, and so on",
  TROUPE_FLEET: "engine of the fleet that 'up' and 'serve' join, and that 'inspect --fleet' shows",
  TROUPE_FLEET_KEY:
    'key of the fleet: 32 random bytes in base64, the same on every host; several with commas',
  NO_COLOR: 'if set, no colors',
  FORCE_COLOR: 'if set, colors even if the output is no terminal',
  TROUPE_CACHE: "folder for the lists of tools; 'off' stores none",
  TROUPE_TIMEOUT_MS: 'limit of each launch, handshake and list, in milliseconds; 0 = no limit',
  CLAUDE_CONFIG_DIR: 'folder of Claude Code, if it is not the usual one',
  CODEX_HOME: 'folder of Codex, if it is not the usual one',
  XDG_CONFIG_HOME: "the user's folder for configuration, on Linux",
  XDG_DATA_HOME: "the user's folder for data, on Linux",
  XDG_CACHE_HOME: "the user's folder for caches, on Linux",
  XDG_STATE_HOME: "the user's folder for logs and the token of 'serve', on Linux",
  CHOKIDAR_USEPOLLING: '1 polls watched files, if the system reports no changes',
};

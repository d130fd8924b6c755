/** Whether a command may download its program first, which takes longer than a start. Pure. */
import type { StdioServerConfig } from './server-config.js';

/** Runners by name, each with the subcommands that fetch a package; null if it always may. */
const RUNNERS: Readonly<Record<string, readonly string[] | null>> = {
  npx: null,
  pnpx: null,
  bunx: null,
  uvx: null,
  npm: ['exec', 'x'],
  pnpm: ['dlx'],
  yarn: ['dlx'],
  bun: ['x'],
  uv: ['run', 'tool'],
  pipx: ['run'],
  docker: ['run'],
  podman: ['run'],
};
const SHELLS: ReadonlySet<string> = new Set(['cmd']);
const REMOTE_MODULE = /^(?:npm|jsr|https?):/;

export type CommandLine = Partial<Pick<StdioServerConfig, 'command' | 'args'>>;

export function mayDownload({ command = '', args = [] }: CommandLine): boolean {
  const name = programName(command);
  const words = args.filter((arg) => !/^[-/]/.test(arg));
  if (SHELLS.has(name)) return mayDownload({ command: words[0] ?? '', args: words.slice(1) });
  if (name === 'deno') return words.some((word) => REMOTE_MODULE.test(word));
  const subcommands = Object.hasOwn(RUNNERS, name) ? RUNNERS[name] : [];
  return subcommands === null || subcommands?.includes(words[0] ?? '') === true;
}

/** `npx` of `C:\\node\\npx.cmd`. */
function programName(command: string): string {
  const file = command.split(/[/\\]/).at(-1) ?? '';
  return file.toLowerCase().replace(/\.(?:cmd|exe|bat|ps1)$/, '');
}

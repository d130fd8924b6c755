/** The structure of a file with servers: its syntax, where its entries are, and in whose form. */
import type { Translate } from '../hosts/translation.js';
import { translateCodex, translateGoose, translateOpencode } from '../hosts/agents.js';
import { translatePlain, translateVsCode, translateZed } from '../hosts/editors.js';
import type { ReadTree } from './text-tree.js';

export type Syntax = 'json' | 'toml' | 'yaml';

export interface Holder {
  /** Names that lead to the object with one member per server, the outermost first. */
  readonly path: readonly string[];
  readonly translate: Translate;
}

export interface Layout {
  readonly syntax: Syntax;
  readonly holders: readonly Holder[];
  /** A file of general settings, which need not contain servers. Default false. */
  readonly isSettings?: boolean;
  /** Fields in which that host expands variables; elsewhere a `$` is plain text. Default: every field. */
  readonly expands?: readonly string[];
}

/** The usual form of a file with servers, by syntax. */
export const WRAPPED: Readonly<Record<Syntax, string>> = {
  json: '{ "mcpServers": { "NAME": { … } } }',
  toml: '[mcp_servers.NAME]',
  yaml: 'mcpServers: { NAME: { … } }',
};

const COMMON_HOLDERS: readonly Holder[] = [
  { path: ['mcpServers'], translate: translatePlain },
  { path: ['servers'], translate: translateVsCode },
  { path: ['context_servers'], translate: translateZed },
  { path: ['mcp_servers'], translate: translateCodex },
  { path: ['mcp'], translate: translateOpencode },
];

/** For a file that someone named: it may follow any host's conventions. */
export function layoutOf(path: string): Layout {
  const syntax = syntaxOf(path);
  const goose: readonly Holder[] =
    syntax === 'yaml' ? [{ path: ['extensions'], translate: translateGoose }] : [];
  return { syntax, holders: [...COMMON_HOLDERS, ...goose] };
}

/** Loads the parser on first use. */
export async function readerOf(syntax: Syntax): Promise<ReadTree> {
  switch (syntax) {
    case 'json':
      return (await import('./json-text.js')).readJsonText;
    case 'toml':
      return (await import('./toml-text.js')).readTomlText;
    case 'yaml':
      return (await import('./yaml-text.js')).readYamlText;
  }
}

function syntaxOf(path: string): Syntax {
  if (/\.toml$/i.test(path)) return 'toml';
  return /\.ya?ml$/i.test(path) ? 'yaml' : 'json';
}

/** The tokens that the definitions of tools take: by server, and by what a model is offered. */
import type { CatalogTool } from '../../catalog/registry.js';
import { chooseTools, DEFAULT_MAX_TOKENS, tokensOf, type OfferMode } from '../../search/offer.js';
import { groupsOf, searchToolDefinitions } from '../../search/search-tools.js';
import type { SearchedTool } from '../../search/tool-index.js';
import { OFFER_MODES } from '../arguments/flags.js';
import type { OfferSize, TokensReport } from './json-output.js';
import type { Colors } from './terminal.js';
import { nameOf } from './terminal.js';

/** @param tools The tools of the servers. */
export function tokensReport(tools: readonly CatalogTool[], servers: readonly string[]): TokensReport {
  return {
    servers: servers.map((server) => ({ server, ...sizeOf(tools.filter((tool) => tool.server === server)) })),
    ...sizeOf(tools),
    modes: Object.fromEntries(OFFER_MODES.map((mode) => [mode, sizeOf(offered(tools, mode))])) as Record<
      OfferMode,
      OfferSize
    >,
    maxTokens: DEFAULT_MAX_TOKENS,
  };
}

function offered(tools: readonly CatalogTool[], mode: OfferMode): readonly SearchedTool[] {
  const { shown, hidden } = chooseTools(tools, mode, ({ pinned }) => pinned === true);
  if (hidden.length === 0) return shown;
  const groups = groupsOf({ tools, groupOf: ({ group, server }) => group ?? server });
  return [...shown, ...searchToolDefinitions(groups, (name) => name)];
}

function sizeOf(tools: readonly SearchedTool[]): OfferSize {
  return { tools: tools.length, tokens: tokensOf(tools) };
}

export function renderTokens(report: TokensReport, colors: Colors): string {
  const rows = [
    ['server', 'tools', 'tokens'],
    ...report.servers.map((each) => [nameOf(each.server), ...numbersOf(each)]),
    ['total', ...numbersOf(report)],
    ['offer', 'tools', 'tokens'],
    ...Object.entries(report.modes).map(([mode, each]) => [mode, ...numbersOf(each)]),
  ];
  const [name = 0, tools = 0, tokens = 0] = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map(([first = '', second = '', third = '']) => {
    const line = `${first.padEnd(name)}  ${second.padStart(tools)}  ${third.padStart(tokens)}`;
    return second === 'tools' ? colors.dim(line) : line;
  });
  return lines.join('\n');
}

function numbersOf({ tools, tokens }: OfferSize): string[] {
  return [String(tools), tokens.toLocaleString('en')];
}

/**
 * Makes the links of the Markdown files, which are relative paths in the repository, links of the site: to a page, or to a
 * file that is copied there. Charts become views that can be enlarged.
 */
import { copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { BASE, inProject, PROJECT, siteFile, sitePage } from './project.js';

/** What of markdown-it is used here. */
type State = Parameters<Parameters<MarkdownRenderer['core']['ruler']['push']>[1]>[0];
type Token = State['tokens'][number];

/** What VitePress says of the file that is rendered; its index of the search renders without a `realPath`. */
interface Rendered {
  readonly path: string;
  readonly realPath?: string;
}

const CHART = /(^|\/)machines\/[^/]+\.svg$/;

/** Files of the project that pages link to, by their place on the site. */
const linked = new Map<string, string>();

export function useRepositoryLinks(md: MarkdownRenderer): void {
  md.core.ruler.push('repository-links', ({ tokens, env }: State) => {
    const page = pageOf(env as Rendered);
    const links = tokens.flatMap(({ children }) =>
      (children ?? []).filter(({ type }) => type === 'link_open'),
    );
    for (const link of links) turn(link, page);
  });
  md.core.ruler.push('charts', (state: State) => {
    const { tokens, Token: Made } = state;
    const page = pageOf(state.env as Rendered);
    for (const [index, { type, children }] of tokens.entries()) {
      const image = children?.length === 1 ? children[0] : undefined;
      if (type !== 'inline' || image?.type !== 'image') continue;
      const src = String(image.attrGet('src'));
      if (!CHART.test(targetOf(page, src))) continue;
      const chart = new Made('html_block', '', 0);
      const alt = md.utils.escapeHtml(image.content);
      chart.content = `<ChartView src="${src.replace(/^(?!\.)/, './')}" alt="${alt}" />\n`;
      const nothing = (): Token => new Made('html_block', '', 0);
      tokens.splice(index - 1, 3, nothing(), chart, nothing());
    }
  });
}

const pageOf = ({ path, realPath = path }: Rendered): string => relative(PROJECT, realPath);

/** The file of the project that a link of that page means. */
function targetOf(page: string, href: string): string {
  return posix.join(posix.dirname(page), decodeURI(href));
}

function turn(link: Token, page: string): void {
  const href = String(link.attrGet('href'));
  if (/^([a-z]+:|#|\/)/.test(href)) return;
  const [path = '', hash] = href.split('#');
  const named = targetOf(page, path);
  const isFolder = existsSync(inProject(named)) && statSync(inProject(named)).isDirectory();
  const target = isFolder ? posix.join(named, 'README.md') : named;
  if (target.endsWith('.md')) {
    const address = `/${sitePage(target)}`.replace(/\/index\.md$/, '/');
    link.attrSet('href', hash === undefined ? address : `${address}#${hash}`);
    return;
  }
  const place = siteFile(target);
  linked.set(place, target);
  link.attrSet('href', `${BASE}${place}`);
  // Else the router of the site would look for a page of that name.
  link.attrSet('target', '_self');
}

/** Copies what pages link to; throws if it is not there. */
export function copyLinkedFiles(outDir: string): void {
  for (const [place, file] of linked) {
    mkdirSync(dirname(join(outDir, place)), { recursive: true });
    copyFileSync(inProject(file), join(outDir, place));
  }
}

/** The file of the project that is at this place of the site. */
export const linkedFile = (place: string): string | undefined => linked.get(place);

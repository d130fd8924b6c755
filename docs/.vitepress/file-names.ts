/** Shows the name of a file above its text, where a fence has one: ```js title="host.mjs". */
import type { MarkdownRenderer } from 'vitepress';

export function useFileNames(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules;
  if (fence === undefined) throw new Error('Nothing renders fences.');
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const code = fence(tokens, index, ...rest);
    const name = / title="([^"]+)"/.exec(tokens[index]?.info ?? '')?.[1];
    return name === undefined ? code : `<p class="file-name">${md.utils.escapeHtml(name)}</p>\n${code}`;
  };
}

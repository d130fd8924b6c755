import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['docs/guide', 'docs/explanation', 'docs/decisions'];
const PAGES = ['README.md', 'CHANGELOG.md', ...FOLDERS.flatMap(pagesIn)];

function pagesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`);
}

/** Relative links, `page#heading`, without those in code. */
function linksOf(text: string): readonly string[] {
  const prose = text.replaceAll(/^```.*?^```$/gms, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) =>
    /^[a-z]+:/.test(link) ? [] : [link],
  );
}

function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

function isDead(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(file)) return true;
  return anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).includes(anchor);
}

describe('the documentation', () => {
  it('is read for its links: pages, headings and nothing in code.', () => {
    const text = 'See [a](b.md#c-d), [web](https://a.example) and `[x](y)`.\n```\n[no](no.md)\n```\n';
    expect(linksOf(text)).toEqual(['b.md#c-d']);
    expect(anchorsOf('## Is it still alive?\n# A `b` c\n')).toEqual(['is-it-still-alive', 'a-b-c']);
    expect(isDead('README.md', 'no-such-page.md')).toBe(true);
    expect(isDead('README.md', 'CHANGELOG.md#no-such-heading')).toBe(true);
  });

  it.each(PAGES)('has only links that lead somewhere: %s.', (page) => {
    const links = linksOf(readFileSync(join(ROOT, page), 'utf8'));
    expect(links.filter((link) => isDead(page, link))).toEqual([]);
  });
});

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDERS = ['docs/guide', 'docs/explanation', 'docs/decisions', 'docs/reference', 'docs/reference/api'];
const PAGES = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...FOLDERS.flatMap(pagesIn)];

function pagesIn(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) =>
    name.endsWith('.md') ? [`${folder}/${name}`] : [],
  );
}

/** Relative links, `page#heading`, without those in code. */
function linksOf(text: string): readonly string[] {
  const prose = text.replaceAll(/^```.*?^```$/gms, '').replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) =>
    /^[a-z]+:/.test(link) ? [] : [link],
  );
}

/** Anchors of headings, where the second one of a name ends in `-1`, and of marks in tables. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set([...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id));
  const seen = new Map<string, number>();
  for (const [, heading = ''] of text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.+)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    anchors.add(times === 0 ? slug : `${slug}-${times}`);
  }
  return anchors;
}

const known = new Map<string, ReadonlySet<string>>();

function anchorsIn(file: string): ReadonlySet<string> {
  const anchors = known.get(file) ?? anchorsOf(readFileSync(file, 'utf8'));
  known.set(file, anchors);
  return anchors;
}

function isDead(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), path);
  if (!existsSync(file)) return true;
  return anchor !== undefined && !anchorsIn(file).has(anchor);
}

describe('the documentation', () => {
  it('is parsed correctly: links and headings, but nothing in code.', () => {
    const text = 'See [a](b.md#c-d), [web](https://a.example) and `[x](y)`.\n```\n[no](no.md)\n```\n';
    expect(linksOf(text)).toEqual(['b.md#c-d']);
    const page = '## Is it still alive?\n# A `b` c\n## A b c\n| <a id="x"></a> |\n```\n# no\n```\n';
    expect([...anchorsOf(page)].toSorted()).toEqual(['a-b-c', 'a-b-c-1', 'is-it-still-alive', 'x']);
    expect(isDead('README.md', 'no-such-page.md')).toBe(true);
    expect(isDead('README.md', 'CHANGELOG.md#no-such-heading')).toBe(true);
  });

  it.each(PAGES)('has only valid links: %s.', (page) => {
    const links = linksOf(readFileSync(join(ROOT, page), 'utf8'));
    expect(links.filter((link) => isDead(page, link))).toEqual([]);
  });

  it('mentions only existing files in CONTRIBUTING.md.', () => {
    const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').replaceAll(/^```.*?^```$/gms, '');
    const named = [...text.matchAll(/`((?:src|machines|test|tools|docs|visualizer)\/[^`*{\s]+)`/g)];
    const paths = named.map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(30);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

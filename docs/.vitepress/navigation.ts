/** The navigation of the site, made of the folders of `docs`: a page that is there is in it. */
import { existsSync, readdirSync } from 'node:fs';
import type { DefaultTheme } from 'vitepress';
import { inProject, sitePage, titleOf } from './project.js';

interface Section {
  readonly title: string;
  readonly folder: string;
  /** Names that come first, in this order. The others follow by their titles. */
  readonly first?: readonly string[];
  /** Pages that belong here, and lie elsewhere. */
  readonly besides?: readonly string[];
}

const SECTIONS: readonly Section[] = [
  { title: 'Tutorial', folder: 'docs/tutorial' },
  {
    title: 'Guide',
    folder: 'docs/guide',
    first: [
      ...[
        'configuration',
        'coming-from',
        'agent-loop',
        'migrating',
        'xstate',
        'sign-in',
        'trust',
        'review',
        'server-requests',
        'protocol-versions',
        'gateway',
        'operations',
        'behind-a-proxy',
      ],
      ...[
        'logging',
        'telemetry',
        'inspecting',
        'recording',
        'incident',
        'recovery',
        'containment',
        'docker',
        'nextjs',
        'bundlers',
        'recipes',
      ],
      ...['testing', 'troubleshooting'],
    ],
  },
  {
    title: 'Reference',
    folder: 'docs/reference',
    first: ['options'],
    besides: ['docs/benchmarks.md', 'CHANGELOG.md'],
  },
  { title: 'API', folder: 'docs/reference/api', first: ['README', 'index'] },
  { title: 'Explanation', folder: 'docs/explanation', first: ['architecture', 'lifecycle'] },
  { title: 'Machines', folder: 'docs/machines', first: ['connection', 'manager'] },
  { title: 'Examples', folder: 'docs/examples' },
  { title: 'Decisions', folder: 'docs/decisions', first: ['README'] },
];

/** The Markdown files of a section, in the order in which they are offered. */
function filesOf({ folder, first = [], besides = [] }: Section): readonly string[] {
  if (!existsSync(inProject(folder))) return [];
  const isNumbered = (file: string): boolean => /\/\d+-[^/]*$/.test(file);
  const rank = (file: string): number => {
    const index = first.indexOf(file.slice(folder.length + 1, -'.md'.length));
    return index < 0 ? first.length : index;
  };
  const found = readdirSync(inProject(folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isFile()) return entry.name.endsWith('.md') ? [path] : [];
    return existsSync(inProject(`${path}/README.md`)) ? [`${path}/README.md`] : [];
  });
  found.sort((a, b) => rank(a) - rank(b) || byName(a, b, isNumbered(a) && isNumbered(b)));
  return [...found, ...besides.filter((file) => existsSync(inProject(file)))];
}

function byName(a: string, b: string, isNumbered: boolean): number {
  return isNumbered ? Number(a > b) - Number(a < b) : titleOf(a).localeCompare(titleOf(b), 'en');
}

const addressOf = (file: string): string => `/${sitePage(file).replace(/(index)?\.md$/, '')}`;

const sections = SECTIONS.map((section) => ({ ...section, files: filesOf(section) })).filter(
  ({ files }) => files.length > 0,
);

interface Offered {
  readonly text: string;
  readonly link: string;
}

const itemsOf = (files: readonly string[]): Offered[] =>
  files.map((file) => ({ text: titleOf(file), link: addressOf(file) }));

const pathOf = (folder: string): string => folder.slice('docs'.length);

/** Every page shows the pages of its section; the first page of the site shows the sections. */
export const sidebar: DefaultTheme.SidebarMulti = {
  '/': sections.map(({ title, files }) => ({ text: title, items: itemsOf(files.slice(0, 5)) })),
  ...Object.fromEntries(
    sections.flatMap(({ title, folder, files, besides = [] }) => {
      const paths = [`${pathOf(folder)}/`, ...besides.map(addressOf)];
      return paths.map((path) => [path, [{ text: title, items: itemsOf(files) }]]);
    }),
  ),
};

export const nav: DefaultTheme.NavItem[] = sections.map(({ title, folder, files: [first = ''] }) => ({
  text: title,
  link: addressOf(first),
  activeMatch: `^${pathOf(folder)}/`,
}));

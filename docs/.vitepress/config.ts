/** The site: every Markdown file of `docs`, with the README of the project as its first page. */
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { useFileNames } from './file-names.js';
import { writeIncidents } from './incidents.js';
import { copyLinkedFiles, useRepositoryLinks } from './links.js';
import { nav, sidebar } from './navigation.js';
import { BASE, inProject, PROJECT, sitePage } from './project.js';
import { searchOptions } from './search.js';
import { servedFiles } from './served-files.js';

const { description, repository } = JSON.parse(readFileSync(inProject('package.json'), 'utf8')) as {
  readonly description: string;
  readonly repository?: { readonly url: string };
};
const source = repository?.url.replace(/^git\+/, '').replace(/\.git$/, '');

/** As GitHub does it, so that a link to a heading leads there in both places. */
const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-');

export default defineConfig({
  title: 'Troupe',
  description,
  lang: 'en',
  base: BASE,
  srcDir: PROJECT,
  srcExclude: ['!(docs)/*', '!(docs)/*/**', 'docs/.vitepress/**'],
  outDir: process.env['SITE_OUT'] ?? inProject('dist-site'),
  rewrites: sitePage,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    anchor: { slugify },
    config: (md) => {
      useRepositoryLinks(md);
      useFileNames(md);
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { console: 'shellsession' },
  },
  vue: {
    template: {
      transformAssetUrls: {
        img: ['src'],
        source: ['src'],
        image: ['href', 'xlink:href'],
        ChartView: ['src'],
      },
    },
  },
  vite: {
    // That of the project builds the package.
    configFile: false,
    plugins: [servedFiles()],
    build: { chunkSizeWarningLimit: 3_000, reportCompressedSize: false },
  },
  themeConfig: {
    nav,
    sidebar,
    outline: [2, 3],
    search: { provider: 'local', options: searchOptions },
    ...(source === undefined ? {} : { socialLinks: [{ icon: 'github', link: source }] }),
  },
  buildEnd: async ({ outDir }) => {
    copyLinkedFiles(outDir);
    await writeIncidents(outDir);
  },
});

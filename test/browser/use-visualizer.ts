/**
 * The page for tests. A test fails if the page logs an error or sends a request to another origin; `expectAccessible`
 * checks its accessibility.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { AxeResults } from 'axe-core';
import { afterEach, beforeAll, expect } from 'vitest';
import { useBrowser } from './browser.js';
import { Visualizer, type Look } from './visualizer-page.js';

const BUILT = fileURLToPath(new URL('../../dist/visualizer/index.html', import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface PageOptions extends Look {
  /** Whether it has its own profile. Default: the profile of the file, in which the page finds what it has stored. */
  readonly isAlone?: boolean;
  /** A script that runs in the page before any other. */
  readonly before?: string;
  /** Whether it finds the charts that earlier pages have laid out, at any address. Default: true. */
  readonly hasLayouts?: boolean;
}

/** What pages have stored of their charts. Each address has its own storage, and a layout takes seconds. */
let layouts: Readonly<Record<string, string>> = {};
const READ_LAYOUTS = `Object.fromEntries(Object.entries(localStorage).filter(([key]) => key.startsWith('troupe-layout')))`;

export interface Visualizers {
  open(url: string, options?: PageOptions): Promise<Visualizer>;
  /** Closes every page, and fails if one had complaints. Called after each test. */
  close(): Promise<void>;
}

export function useVisualizer(): Visualizers {
  const browser = useBrowser();
  const opened: Visualizer[] = [];
  beforeAll(() => {
    if (!existsSync(BUILT)) throw new Error("The page is not built: run 'npm run build'.");
  });
  const close = async (): Promise<void> => {
    const pages = opened.splice(0);
    for (const { page } of pages) {
      // A page may have no storage.
      const stored = (await page.evaluate(READ_LAYOUTS).catch(() => ({}))) as typeof layouts;
      if (Object.keys(stored).length >= Object.keys(layouts).length) layouts = stored;
      await page.close();
    }
    for (const page of pages) {
      expect(page.complaints).toEqual([]);
      expect(page.foreign).toEqual([]);
    }
  };
  afterEach(close);
  return {
    close,
    open: async (url, { isAlone = false, hasLayouts = true, before, ...look } = {}) => {
      const window = await (isAlone ? browser.window() : browser.tab());
      if (hasLayouts) await window.evaluateOnNewDocument(storeLayouts(layouts));
      if (before !== undefined) await window.evaluateOnNewDocument(before);
      const visualizer = new Visualizer(window, url);
      opened.push(visualizer);
      await visualizer.begin(look);
      return visualizer;
    },
  };
}

function storeLayouts(known: typeof layouts): string {
  return `try {
    const known = ${JSON.stringify(known)};
    for (const key in known) if (localStorage.getItem(key) === null) localStorage.setItem(key, known[key]);
  } catch {}`;
}

/** Fails if axe-core finds more than minor problems on the present page. */
export async function expectAccessible({ page }: Visualizer, where: string): Promise<void> {
  await page.evaluate(`if (globalThis.axe === undefined) {${AXE}}`);
  const { violations } = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] })',
  )) as AxeResults;
  const found = violations
    .filter(({ impact }) => impact !== 'minor')
    .map(({ id, nodes }) => `${where}: ${id}: ${nodes.map(({ html }) => html.slice(0, 140)).join(' | ')}`);
  expect(found).toEqual([]);
}

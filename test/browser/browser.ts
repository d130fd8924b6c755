/**
 * A real headless Chromium, one for each test file. Every wait has a limit, and nothing of it is left when the file ends.
 */
import type { Browser, BrowserContext, HTTPResponse, Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { ANSWER_MS, launchChromium, START_MS } from './chromium.js';

/** Windows with an empty profile, closed after each test, and tabs of one profile for the whole file. */
export function useBrowser(): { window(): Promise<Page>; tab(): Promise<Page> } {
  let browser: Browser | undefined;
  const profiles: BrowserContext[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
  }, START_MS);
  afterEach(async () => {
    for (const profile of profiles.splice(0)) await profile.close();
  });
  afterAll(async () => browser?.close());
  const running = (): Browser => {
    if (browser === undefined) throw new Error('The browser is not running.');
    return browser;
  };
  const pageOf = async (profile: BrowserContext): Promise<Page> => {
    const page = await profile.newPage();
    page.setDefaultTimeout(ANSWER_MS);
    return page;
  };
  return {
    window: async () => {
      const profile = await running().createBrowserContext();
      profiles.push(profile);
      return pageOf(profile);
    },
    tab: () => pageOf(running().defaultBrowserContext()),
  };
}

/** A page as the user sees it, and its response. */
export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly address: URL;
  readonly title: string;
  /** The displayed text. */
  readonly text: string;
  readonly html: string;
  readonly scripts: number;
}

/** Opens an address as if it had been typed in. */
export async function visit(page: Page, address: string): Promise<Seen> {
  return look(page, await page.goto(address, { waitUntil: 'load' }));
}

/** Clicks a button and reads the page that follows, after all redirects. */
export async function click(page: Page, button: string): Promise<Seen> {
  const [response] = await Promise.all([
    page.waitForNavigation({ waitUntil: 'load' }),
    page.locator(`::-p-aria(${button}[role="button"])`).click(),
  ]);
  return look(page, response);
}

async function look(page: Page, response: HTTPResponse | null): Promise<Seen> {
  if (response === null) throw new Error(`Nothing was loaded: ${page.url()}`);
  const shown = (await page.evaluate(
    '({ text: document.body.innerText, scripts: document.scripts.length })',
  )) as Pick<Seen, 'text' | 'scripts'>;
  return {
    ...shown,
    status: response.status(),
    headers: response.headers(),
    address: new URL(page.url()),
    title: await page.title(),
    html: await page.content(),
  };
}

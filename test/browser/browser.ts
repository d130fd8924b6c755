/**
 * A person with a browser: a real Chromium without a window. One for the file, one empty profile for each test; every
 * wait has a bound, and nothing of it is left when the file ends.
 */
import chromium from '@sparticuz/chromium';
import puppeteer, { type Browser, type BrowserContext, type HTTPResponse, type Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll } from 'vitest';

const LIMIT_MS = 15_000;
/** Those of the package would also turn off what a browser protects people with, and end it with its first profile. */
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--use-gl=angle', '--use-angle=swiftshader'];
/** Unpacking and starting it, on a busy machine. */
const START_MS = 60_000;

/** Gives a new window. */
export function useBrowser(): { window(): Promise<Page> } {
  let browser: Browser | undefined;
  const profiles: BrowserContext[] = [];
  beforeAll(async () => {
    browser = await puppeteer.launch({
      executablePath: process.env['CHROME_PATH'] ?? (await chromium.executablePath()),
      args: ARGS,
      headless: 'shell',
      timeout: START_MS,
      protocolTimeout: LIMIT_MS,
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
  }, START_MS);
  afterEach(async () => {
    for (const profile of profiles.splice(0)) await profile.close();
  });
  afterAll(async () => browser?.close());
  return {
    window: async () => {
      if (browser === undefined) throw new Error('The browser does not run.');
      const profile = await browser.createBrowserContext();
      profiles.push(profile);
      const page = await profile.newPage();
      page.setDefaultTimeout(LIMIT_MS);
      return page;
    },
  };
}

/** What a person sees, and what there is besides. */
export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly address: URL;
  readonly title: string;
  /** As it is displayed. */
  readonly text: string;
  readonly html: string;
  readonly scripts: number;
}

/** Goes to an address as if it had been typed in. */
export async function visit(page: Page, address: string): Promise<Seen> {
  return look(page, await page.goto(address, { waitUntil: 'load' }));
}

/** Clicks the button and looks at the page that comes, after every redirect. */
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

/** The page in a browser, used as a user does: for the tests and for the pictures. */
import type { Page } from 'puppeteer-core';
import { WAIT_LIMIT_MS } from '../support/time-limit.js';

/** After the end of a troupe, the page looks for another run, and the browser reports that nobody answers. */
const NOBODY_ANSWERS = 'Failed to load resource: net::ERR_CONNECTION_REFUSED';

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  readonly reducedMotion?: boolean;
}

export class Visualizer {
  /** Errors and warnings in the console, and uncaught errors. */
  readonly complaints: string[] = [];
  /** Requested addresses of other origins. */
  readonly foreign: string[] = [];

  constructor(
    readonly page: Page,
    private readonly url: string,
  ) {}

  async begin({ width = 1280, height = 720, theme = 'dark', reducedMotion = false }: Look): Promise<void> {
    const { page, url } = this;
    page.on('console', (message) => {
      const isComplaint = ['error', 'warn'].includes(message.type());
      if (isComplaint && message.text() !== NOBODY_ANSWERS) this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('request', (request) => {
      const target = new URL(request.url());
      const isHere = target.origin === new URL(url).origin || ['data:', 'blob:'].includes(target.protocol);
      if (!isHere && target.href !== url) this.foreign.push(request.url());
    });
    await page.setViewport({ width, height });
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: theme },
      { name: 'prefers-reduced-motion', value: reducedMotion ? 'reduce' : 'no-preference' },
    ]);
    await page.emulateTimezone('UTC');
    await page.goto(url, { waitUntil: 'load' });
  }

  /** The visible text of the first match; empty if there is none. */
  async text(selector: string): Promise<string> {
    return (await this.texts(selector))[0] ?? '';
  }

  async texts(selector: string): Promise<readonly string[]> {
    const read = `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.innerText)`;
    return (await this.page.evaluate(read)) as readonly string[];
  }

  async show(view: string): Promise<void> {
    await this.page.locator(`#tab-${view.toLowerCase()}`).click();
    await this.page.waitForSelector(`#panel-${view.toLowerCase()}`);
  }

  /** Clicks the element with this accessible name and role. */
  async click(name: string, role = 'button'): Promise<void> {
    await this.page.locator(`::-p-aria(${name}[role="${role}"])`).click();
  }

  async select(connection: string): Promise<void> {
    await this.page.locator(`.fleet-row ::-p-text(${connection})`).click();
    await expectText(this, '.side h2, .details h2', (text) => text === connection);
  }

  /** Ids of the states that the chart shows as active. */
  async active(): Promise<readonly string[]> {
    const read = `[...document.querySelectorAll('.chart-state[data-active=true]')].map((each) => each.dataset.state)`;
    return (await this.page.evaluate(read)) as readonly string[];
  }

  /** Waits until all animations have ended. */
  async rest(): Promise<void> {
    await this.page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');
  }

  /** Names of the commands that are offered. */
  async offered(): Promise<readonly string[]> {
    return this.texts('.command:not(:disabled)');
  }

  /** Gives a log to the page. */
  async give(path: string): Promise<void> {
    const input = await this.page.$('input[type=file]');
    if (input === null) throw new Error('The page has no file input.');
    await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(path);
  }

  /** Moves the whole page to a share of the log, from 0 to 1. */
  async scrubTo(share: number): Promise<void> {
    await this.page.evaluate(`{
      const slider = document.querySelector('.scrubber input');
      slider.value = String(Number(slider.max) * ${share});
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }`);
  }
}

/** Waits until the text of a matching element fits; fails if none does in time. */
export async function expectText(
  visualizer: Visualizer,
  selector: string,
  fits: (text: string) => boolean,
  limitMs = WAIT_LIMIT_MS,
): Promise<void> {
  let seen: readonly string[] = [];
  const end = Date.now() + limitMs;
  while (Date.now() < end) {
    seen = await visualizer.texts(selector);
    if (seen.some(fits)) return;
    // Two frames.
    await visualizer.page.evaluate('new Promise((resolve) => setTimeout(resolve, 32))');
  }
  throw new Error(`No text fits: ${selector} has ${JSON.stringify(seen.slice(0, 12))}`);
}

/** Waits until the chart shows the state as active. */
export async function expectActive({ page }: Visualizer, state: string): Promise<void> {
  await page.waitForSelector(`.chart-state[data-state="${state}"][data-active=true]`);
}

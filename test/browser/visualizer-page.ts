/** The page in a browser, as a person drives it: for the tests, and for the pictures. */
import type { Page } from 'puppeteer-core';

const LIMIT_MS = 15_000;

export interface Look {
  readonly width?: number;
  readonly height?: number;
  readonly theme?: 'light' | 'dark';
  readonly reducedMotion?: boolean;
}

export class Visualizer {
  /** What was written to the console as an error or a warning, and errors that nobody caught. */
  readonly complaints: string[] = [];
  /** Addresses elsewhere that were asked for. */
  readonly foreign: string[] = [];

  constructor(
    readonly page: Page,
    private readonly url: string,
  ) {}

  async begin({ width = 1280, height = 720, theme = 'dark', reducedMotion = false }: Look): Promise<void> {
    const { page, url } = this;
    page.on('console', (message) => {
      if (['error', 'warn'].includes(message.type())) this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('request', (request) => {
      const asked = new URL(request.url());
      const isHere = asked.origin === new URL(url).origin || ['data:', 'blob:'].includes(asked.protocol);
      if (!isHere && asked.href !== url) this.foreign.push(request.url());
    });
    await page.setViewport({ width, height });
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: theme },
      { name: 'prefers-reduced-motion', value: reducedMotion ? 'reduce' : 'no-preference' },
    ]);
    await page.emulateTimezone('UTC');
    await page.goto(url, { waitUntil: 'load' });
  }

  /** What can be read of the first that fits; empty where nothing does. */
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

  /** Clicks what has that role and that accessible name. */
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

  /** Waits until nothing moves any more. */
  async rest(): Promise<void> {
    await this.page.evaluate('Promise.allSettled(document.getAnimations().map(({ finished }) => finished))');
  }

  /** Names of the commands that are offered. */
  async offered(): Promise<readonly string[]> {
    return this.texts('.command:not(:disabled)');
  }

  /** Lets a log fall onto the page. */
  async give(path: string): Promise<void> {
    const input = await this.page.$('input[type=file]');
    if (input === null) throw new Error('The page takes no file.');
    await (input as unknown as { uploadFile(path: string): Promise<void> }).uploadFile(path);
  }

  /** Moves the whole page to that share of the log. */
  async scrubTo(share: number): Promise<void> {
    await this.page.evaluate(`{
      const slider = document.querySelector('.scrubber input');
      slider.value = String(Number(slider.max) * ${share});
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }`);
  }
}

/** Waits until that says so of what can be read; fails where it does not come to that. */
export async function expectText(
  visualizer: Visualizer,
  selector: string,
  fits: (text: string) => boolean,
  limitMs = LIMIT_MS,
): Promise<void> {
  let seen: readonly string[] = [];
  const end = Date.now() + limitMs;
  while (Date.now() < end) {
    seen = await visualizer.texts(selector);
    if (seen.some(fits)) return;
    // Two frames of the page.
    await visualizer.page.evaluate('new Promise((resolve) => setTimeout(resolve, 32))');
  }
  throw new Error(`It did not come to that: ${selector} says ${JSON.stringify(seen.slice(0, 12))}`);
}

/** Waits until the chart shows that state as active. */
export async function expectActive({ page }: Visualizer, state: string): Promise<void> {
  await page.waitForSelector(`.chart-state[data-state="${state}"][data-active=true]`);
}

/** Which browser the tests, the pictures and the benchmarks use, and how it is started. */
import { setTimeout } from 'node:timers/promises';
import chromium from '@sparticuz/chromium';
import puppeteer, { type Browser } from 'puppeteer-core';

/** Time limit of one request to the browser, milliseconds. */
export const ANSWER_MS = 15_000;
/** Time limit for unpacking and starting it on a busy machine, milliseconds. */
export const START_MS = 60_000;
/** The arguments of the package would also turn off security features, and end the browser with its first profile. */
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];

/** Pause between two attempts while another process is still unpacking it, milliseconds. */
const AGAIN_MS = 200;

/** A headless Chromium, or the browser in `CHROME_PATH`. The caller closes it; it ends with this process at the latest. */
export async function launchChromium(answerMs = ANSWER_MS): Promise<Browser> {
  for (const end = Date.now() + START_MS; ; await setTimeout(AGAIN_MS)) {
    try {
      return await launch(answerMs);
    } catch (error) {
      // Another test is still unpacking the file, so it cannot be run yet.
      const isUnpacked = !(error instanceof Error && error.message.includes('ETXTBSY'));
      if (isUnpacked || Date.now() > end) throw error;
    }
  }
}

async function launch(answerMs: number): Promise<Browser> {
  return puppeteer.launch({
    executablePath: process.env['CHROME_PATH'] ?? (await chromium.executablePath()),
    args: ARGS,
    headless: 'shell',
    // The browser ends with the pipe, so none is left if this process is killed.
    pipe: true,
    timeout: START_MS,
    protocolTimeout: answerMs,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}

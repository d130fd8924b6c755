/** Which browser the tests, the pictures and the benchmarks use, and how it is started. */
import { setTimeout } from 'node:timers/promises';
import chromium from '@sparticuz/chromium';
import puppeteer, { type Browser } from 'puppeteer-core';

/** Longest that one question to it may take, milliseconds. */
export const ANSWER_MS = 15_000;
/** Unpacking and starting it, on a busy machine. */
export const START_MS = 60_000;
/** Those of the package would also turn off what a browser protects people with, and end it with its first profile. */
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];

/** Between two looks at one that another process is still unpacking, milliseconds. */
const AGAIN_MS = 200;

/** A Chromium without a window, or what `CHROME_PATH` names. The caller closes it; at the latest it ends with this process. */
export async function launchChromium(answerMs = ANSWER_MS): Promise<Browser> {
  for (const end = Date.now() + START_MS; ; await setTimeout(AGAIN_MS)) {
    try {
      return await launch(answerMs);
    } catch (error) {
      // The file that another test unpacks is there, and cannot be run yet.
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
    // It ends when the pipe does, so none is left where this process is killed.
    pipe: true,
    timeout: START_MS,
    protocolTimeout: answerMs,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}

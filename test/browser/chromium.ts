/** Which browser the tests, the pictures and the benchmarks use, and how it is started. */
import chromium from '@sparticuz/chromium';
import puppeteer, { type Browser } from 'puppeteer-core';

/** Longest that one question to it may take, milliseconds. */
export const ANSWER_MS = 15_000;
/** Unpacking and starting it, on a busy machine. */
export const START_MS = 60_000;
/** Those of the package would also turn off what a browser protects people with, and end it with its first profile. */
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];

/** A Chromium without a window, or what `CHROME_PATH` names. The caller closes it; at the latest it ends with this process. */
export async function launchChromium(answerMs = ANSWER_MS): Promise<Browser> {
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

#!/usr/bin/env node
/**
 * An MCP server over records of a business, on stdin and stdout: people, applications and policies, one JSON file each.
 *
 * This file owns the process: its words, its streams, its signals, its exit code. stdout belongs to the protocol alone.
 */
import process from 'node:process';
import { readWords, USAGE } from './command-line.mjs';
import { openDataFolder } from './data-folder.mjs';
import { serveLines } from './json-rpc.mjs';
import { createLog } from './log.mjs';
import { createSession } from './session.mjs';

/** What was written before a signal is still read. */
const LAST_WORDS_MS = 50;
/** How long calls that are in flight may take after that. */
const DRAIN_MS = 10_000;

process.exitCode = await main(process.argv.slice(2));

/** @param {readonly string[]} words */
async function main(words) {
  const wish = readWords(words);
  const log = createLog(process.stderr, wish.kind === 'serve' ? wish : {});
  if (wish.kind === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  if (wish.kind === 'mistake') {
    log.error('command-line', wish.message);
    return 2;
  }
  try {
    return await serve(await openDataFolder(wish.folder, log), log, wish.name);
  } catch (error) {
    log.error('server', error instanceof Error ? error.message : String(error));
    return 1;
  }
}

/**
 * @param {import('./data-folder.mjs').DataFolder} folder
 * @param {import('./log.mjs').Log} log
 * @param {string | undefined} name
 */
async function serve(folder, log, name) {
  const stop = new AbortController();
  let isEnding = false;
  const onSignal = (/** @type {NodeJS.Signals} */ signal) => {
    if (isEnding) process.exit(1);
    isEnding = true;
    log.info('server', `${signal}: the calls in flight are finished first`);
    setTimeout(() => stop.abort(), LAST_WORDS_MS);
    setTimeout(() => giveUp(log), DRAIN_MS).unref();
  };
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, onSignal);
  process.stdout.on('error', (error) => {
    log.info('server', `nobody reads stdout any more: ${error.message}`);
    stop.abort();
  });

  log.info('server', 'ready', { data: folder.path, categories: await folder.categoryIds() });
  const session = createSession(folder, log, name);
  await serveLines({ input: process.stdin, output: process.stdout, session, log, signal: stop.signal });
  log.info('server', 'ends');
  return 0;
}

/** @param {import('./log.mjs').Log} log */
function giveUp(log) {
  log.error('server', `calls were still in flight after ${DRAIN_MS} ms`);
  process.exit(1);
}

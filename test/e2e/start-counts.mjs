/**
 * What a start costs in things that can be counted: `node start-counts.mjs PACKAGE SERVERS` prints them as JSON when all
 * servers are listed. Without reads of the process table: the sweep for servers of dead hosts may have begun on a slow machine.
 */
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { register, syncBuiltinESMExports } from 'node:module';
import { fileURLToPath } from 'node:url';
import { MessageChannel } from 'node:worker_threads';

const [built, count] = process.argv.slice(2);
const SERVER = fileURLToPath(new URL('../../tools/bench/small-server.mjs', import.meta.url));

const counts = { files: 0, timers: 0, actors: 0 };
/** Counts the calls of a function. */
function counted(owner, name) {
  const original = owner[name];
  const count = (...args) => {
    if (!String(args[0]).startsWith('/proc')) counts.files += 1;
    return original.apply(owner, args);
  };
  owner[name] = Object.assign(count, original);
}
for (const [name, member] of Object.entries(promises))
  if (typeof member === 'function') counted(promises, name);
for (const [name, member] of Object.entries(fs))
  if (typeof member === 'function' && name.endsWith('Sync')) counted(fs, name);
syncBuiltinESMExports();

const { setTimeout: setTimer } = globalThis;
globalThis.setTimeout = (...args) => {
  counts.timers += 1;
  return setTimer(...args);
};

const chunks = new Set();
const { port1, port2 } = new MessageChannel();
port1.on('message', (url) => chunks.add(url));
port1.unref();
register(
  `data:text/javascript,
  let port;
  export const initialize = (data) => { port = data.port; };
  export const load = (url, context, next) => { port.postMessage(url); return next(url, context); };`,
  { data: { port: port2 }, transferList: [port2] },
);

/** The report of a module comes some time after it was loaded, and after those of earlier ones. */
async function allReported(mark) {
  const url = `data:text/javascript,${mark}`;
  await import(url);
  while (!chunks.has(url)) await new Promise((resolve) => setImmediate(resolve));
}

const { createTroupe } = await import(built);
const servers = Object.fromEntries(
  Array.from({ length: Number(count) }, (_, index) => [
    `s${index}`,
    { command: process.execPath, args: [SERVER] },
  ]),
);
const inspector = { next: ({ type }) => (counts.actors += type === '@xstate.actor' ? 1 : 0) };
await allReported('1');
const early = new Set(chunks);
const troupe = createTroupe({ servers, cache: false, inspector });
Object.assign(counts, { files: 0, timers: 0, actors: 0 });
await troupe.start();
const listed = { ...counts };
await allReported('2');
const late = [...chunks].filter((url) => url.startsWith('file:') && !early.has(url)).length;
console.log(JSON.stringify({ ...listed, chunks: late, tools: troupe.tools.length }));
await troupe.close();
process.exit();

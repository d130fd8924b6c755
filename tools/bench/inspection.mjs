// Measures the cost of a watching page for the runtime, and the latency of an event to the page.
// Usage: npm run build && node tools/bench/inspection.mjs
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { BusyTroupe } from './busy-troupe.mjs';
import { fromDist } from './from-dist.mjs';
import { inProcessServer } from './small-server.mjs';

const { createTroupe } = await fromDist('src/index.js');
const { LiveSource } = await fromDist('src/inspector/live-source.js');
const { openInspectionServer } = await fromDist('src/inspector/inspection-server.js');
const { systemClock } = await fromDist('src/ports.js');

const STEPS = 20_000;
const STEPS_A_TURN = 20;
const CALLS = 2_000;
const ROUNDS = 5;
const FLEET = 50;
const EVENTS = 500;

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const line = (label, value) => console.log(`  ${label.padEnd(52)} ${value.padStart(10)}`);

/** Microseconds of processor time of this process per item. */
async function cost(count, work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

/** A page in its own process, which reads everything. */
async function openPage(url) {
  const { port, hash } = new URL(url);
  const options = { port, path: '/api/stream', headers: { authorization: `Bearer ${hash.slice(1)}` } };
  const code = `require('node:http').get(${JSON.stringify({ host: '127.0.0.1', ...options })}, (answer) => {
    answer.once('data', () => process.stdout.write('reading'));
    answer.resume();
  })`;
  const page = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(page.stdout, 'data');
  return async () => {
    const ended = once(page, 'exit');
    page.kill('SIGKILL');
    await ended;
  };
}

async function drive(troupe) {
  for (let step = 0; step < STEPS; step += STEPS_A_TURN) {
    await troupe.run(STEPS_A_TURN);
    await turn();
  }
}

async function chartsAlone(sink) {
  const troupe = new BusyTroupe(sink);
  await troupe.run(2_000);
  const spent = await cost(STEPS, () => drive(troupe));
  await troupe.close();
  return spent;
}

async function chartsWatched() {
  let troupe;
  const source = new LiveSource({
    clock: systemClock,
    title: 'bench',
    record: async ({ target }) => {
      troupe = new BusyTroupe(target);
      return { close: () => troupe.close() };
    },
    history: 0,
    recorded: () => undefined,
    connections: () => [],
    onchanged: () => () => {},
  });
  const server = await openInspectionServer({ source, clock: systemClock, port: 0 });
  const closePage = await openPage(server.url);
  await troupe.run(2_000);
  const spent = await cost(STEPS, () => drive(troupe));
  await closePage();
  await server.close();
  return spent;
}

async function machines() {
  const [off, recorded, watched] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    off.push(await chartsAlone());
    recorded.push(await chartsAlone({ write() {}, close() {} }));
    watched.push(await chartsWatched());
  }
  console.log(
    `Events of the charts, microseconds of processor time each (median of ${ROUNDS} rounds, interleaved)`,
  );
  line('no page is open', median(off).toFixed(1));
  line('a recorder without a target', median(recorded).toFixed(1));
  line('a page is open', median(watched).toFixed(1));
  line('recorder, history and page', (median(watched) - median(off)).toFixed(1));
}

async function fleet() {
  const servers = Object.fromEntries(
    Array.from({ length: FLEET }, (_, at) => [`s${at}`, { type: 'in-process', server: inProcessServer() }]),
  );
  const troupe = createTroupe({ servers, cache: false });
  await troupe.start();
  return troupe;
}

async function calls() {
  const troupe = await fleet();
  const callAll = async () => {
    for (let call = 0; call < CALLS; call += 1)
      await troupe.callTool(`mcp__s${call % FLEET}__tool_1`, { text: 'x' });
  };
  await callAll();
  const { url } = await troupe.inspect({ history: 0 });
  const [off, kept, watched] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    off.push(await cost(CALLS, callAll));
    const keeping = await troupe.inspect();
    kept.push(await cost(CALLS, callAll));
    await keeping.close();
    const closePage = await openPage(url);
    watched.push(await cost(CALLS, callAll));
    await closePage();
    // The recorder continues for a while, in case the page is reloaded.
    await pause(10_500);
  }
  await troupe.close();
  console.log(`Calls in a fleet of ${FLEET}, as fast as they go, microseconds of processor time each`);
  line('the page is served, none is open', median(off).toFixed(0));
  line('no page is open, the history is kept', median(kept).toFixed(0));
  line('a page is open: protocol messages, calls, all rows', median(watched).toFixed(0));
}

/** Milliseconds from the start of a call to its line in a page of this process. */
async function latency() {
  const troupe = await fleet();
  const { url } = await troupe.inspect();
  const { port, hash } = new URL(url);
  const asking = get({
    host: '127.0.0.1',
    port,
    path: '/api/stream',
    headers: { authorization: `Bearer ${hash.slice(1)}` },
  });
  const [stream] = await once(asking, 'response');
  stream.setEncoding('utf8');
  let onCallStarted = () => {};
  stream.on('data', (text) => {
    if (text.includes('call.started')) onCallStarted(performance.now());
  });
  await pause(500);
  const waits = [];
  for (let event = 0; event < EVENTS; event += 1) {
    const heard = new Promise((resolve) => (onCallStarted = resolve));
    const begun = performance.now();
    void troupe.callTool(`mcp__s${event % FLEET}__tool_1`, { text: 'x' });
    waits.push((await heard) - begun);
    await pause(10);
  }
  asking.destroy();
  await troupe.close();
  const sorted = waits.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.floor(sorted.length * share)].toFixed(1);
  console.log(
    `From a call to its arrival at the page, milliseconds, about 100 a second in a fleet of ${FLEET}`,
  );
  line('median', at(0.5));
  line('99th percentile', at(0.99));
}

await machines();
await calls();
await latency();

/**
 * The longest turn of the event loop that one message costs if it is just within the limits, for each shape that is expensive to
 * parse, walk or check: as a notification, as the result of a tool, and as a list of tools. The goal is 200 ms on a quiet
 * core. Each shape runs in a process of its own, three times, and the best run counts: other work on the machine only adds.
 * On Linux the processor time of the main thread counts, elsewhere the time on the clock.
 *
 *     node tools/bench/message-limits.mjs            # after npm run build
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const GOAL_MS = 200;
const RUNS = 3;
const MAX_BYTES = 16 * 1024 * 1024 - 4_096;
const MAX_STRUCTURE = 199_900;
const MAX_ENTRIES = 2_000;
const SELF = fileURLToPath(import.meta.url);

const listOf = (count, entry) => Array.from({ length: count }, (_, index) => entry(index)).join();
const tools = (schemaOf) => ({
  list: () =>
    `[${listOf(MAX_ENTRIES, (n) => `{"name":"tool_${n}","description":"Does ${n}.","inputSchema":${schemaOf(n)}}`)}]`,
});
const SHAPES = {
  text: () => `"${'a'.repeat(MAX_BYTES)}"`,
  'escaped text': () => `"${'\\n'.repeat(MAX_BYTES / 2)}"`,
  'text that is not ASCII': () => `"${'é'.repeat(MAX_BYTES / 2)}"`,
  'different names': () => `{${listOf(MAX_STRUCTURE / 2, (n) => `"${n.toString(36)}":0`)}}`,
  'objects with different names': () => `[${listOf(MAX_STRUCTURE / 4, (n) => `{"k${n}":0}`)}]`,
  'equal objects': () => `[${'{"k":0},'.repeat(MAX_STRUCTURE / 4 - 1)}{}]`,
  'empty objects': () => `[${'{},'.repeat(MAX_STRUCTURE / 3 - 1)}{}]`,
  'different texts': () => `[${listOf(MAX_STRUCTURE, (n) => `"text number ${n} of a list of texts"`)}]`,
  numbers: () => `[${listOf(MAX_STRUCTURE, (n) => `${n}.123456789`)}]`,
  depth: () => `${'['.repeat(990)}${']'.repeat(990)}`,
  'small tools': tools(() => '{"type":"object"}'),
  'large tools': tools(
    (n) =>
      `{"type":"object","properties":{${listOf(10, (p) => `"p${p}_${n}":{"type":"string","minLength":1}`)}}}`,
  ),
  'bad tools': tools(() => '{"type":"string"}'),
};

/** A server that gives what the shape says, on stdio. */
function serve(name, kind) {
  const shape = SHAPES[name];
  const send = (body) => process.stdout.write(`{"jsonrpc":"2.0",${body}}\n`);
  let lists = 0;
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    const answer = (result) => send(`"id":${JSON.stringify(id)},"result":${result}`);
    if (method === 'initialize') {
      const version = JSON.stringify(params.protocolVersion);
      answer(
        `{"protocolVersion":${version},"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"dear","version":"1"}}`,
      );
    } else if (method === 'tools/list') {
      lists += 1;
      const isDear = kind === 'list' && lists > 1;
      answer(`{"tools":${isDear ? shape.list() : '[{"name":"dear","inputSchema":{"type":"object"}}]'}}`);
    } else if (method === 'tools/call') {
      if (kind === 'list') send('"method":"notifications/tools/list_changed"');
      if (kind === 'notification') send(`"method":"notifications/x","params":{"a":${shape()}}`);
      answer(kind === 'result' ? `{"content":[],"structuredContent":{"a":${shape()}}}` : '{"content":[]}');
    } else if (id !== undefined && method !== undefined) answer('{}');
  });
}

/** Milliseconds that the main thread has run. */
function spent() {
  if (process.platform !== 'linux') return performance.now();
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
}

async function measure(name, kind) {
  const { createTroupe } = await import('../../dist/bundle/src/index.js');
  const server = { command: process.execPath, args: [SELF, 'serve', name, kind] };
  const troupe = createTroupe({ servers: { dear: server }, cache: false });
  troupe.events$.subscribe(() => {});
  await troupe.start();
  await pause(300);
  let last = spent();
  let longest = 0;
  const timer = setInterval(() => {
    const now = spent();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  const outcome = await troupe.callTool('mcp__dear__dear', {}).then(
    () => 'answered',
    (error) => error.code,
  );
  if (kind === 'list') await pause(2_500);
  await pause(50);
  clearInterval(timer);
  const { length: count } = troupe.tools;
  await troupe.close();
  console.log(JSON.stringify({ ms: Math.round(longest), outcome, count }));
}

function main() {
  let worst = 0;
  for (const [name, shape] of Object.entries(SHAPES))
    for (const kind of typeof shape === 'function' ? ['notification', 'result'] : ['list']) {
      const runs = Array.from({ length: RUNS }, () => {
        const { stdout } = spawnSync(process.execPath, [SELF, 'measure', name, kind], { encoding: 'utf8' });
        return JSON.parse(stdout);
      });
      const { ms, outcome, count } = runs.toSorted((a, b) => a.ms - b.ms)[0];
      worst = Math.max(worst, ms);
      console.log(`${String(ms).padStart(6)} ms  ${kind.padEnd(12)} ${name} (${outcome}, tools: ${count})`);
    }
  console.log(`${worst < GOAL_MS ? 'met' : 'not met'}: the longest turn is below ${GOAL_MS} ms`);
}

const [, , part, ...rest] = process.argv;
if (part === 'serve') serve(...rest);
else if (part === 'measure') await measure(...rest);
else main();

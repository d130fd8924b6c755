/**
 * A stdio server that repeats its arguments and its `PARROT_` variables in every field and stream it can write to. The
 * first argument is its behavior: `polite` starts up, `refusing` does not.
 */
import { createInterface } from 'node:readline';
import process from 'node:process';

const [behavior, ...args] = process.argv.slice(2);
const given = Object.entries(process.env).filter(([name]) => name.startsWith('PARROT_'));
const texts = [...args, ...given.map(([, value]) => value)];

/** Encodings in which programs repeat a text. */
const SPELLINGS = [
  (text) => text,
  (text) => JSON.stringify({ text }),
  (text) => JSON.stringify(text).replace(/[^\x20-\x7e]/g, toEscape),
  (text) => encodeURIComponent(text.toWellFormed()),
  (text) => encodeURI(text.toWellFormed()),
  (text) => new URLSearchParams({ text }).toString(),
  (text) =>
    new URL(`http://parrot/?text=${encodeURI(text.toWellFormed())}`).href.replace(/%[0-9A-F]{2}/g, toLower),
];
const repeated = texts.flatMap((text) => SPELLINGS.map((spell) => spell(text)));

function toEscape(char) {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function toLower(text) {
  return text.toLowerCase();
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

const asKeys = Object.fromEntries(repeated.map((text) => [text, { [text]: text }]));

const answers = {
  initialize: ({ protocolVersion }) => ({
    result: {
      protocolVersion,
      capabilities: { tools: {}, resources: {}, prompts: {}, logging: {}, experimental: asKeys },
      serverInfo: { name: repeated.join(), version: repeated.join(), title: repeated.join() },
      instructions: repeated.join('\n'),
    },
  }),
  'tools/list': () => ({
    result: {
      tools: [
        ...repeated.map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
        ...repeated.map((name) => ({ name: `bad ${name}`, inputSchema: 7 })),
        { name: 'refuse', inputSchema: { type: 'object' } },
        { name: 'die', inputSchema: { type: 'object' } },
      ],
    },
  }),
  'tools/call': ({ name }) => {
    if (name === 'die') return die();
    return { error: { code: -1, message: repeated.join(), data: { repeated, asKeys } } };
  },
};

function die() {
  process.stderr.write(`dying with ${repeated.join()}\n`, () => process.exit(7));
  return undefined;
}

for (const text of repeated) {
  const line = Buffer.from(`got ${text}\n`);
  const middle = Math.floor(line.length / 2);
  process.stderr.write(line.subarray(0, middle));
  process.stderr.write(line.subarray(middle));
  process.stdout.write(`noise ${text.replaceAll('\n', ' ')}\n`);
}

createInterface(process.stdin).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const refusal = { error: { code: -1, message: repeated.join(), data: { repeated, asKeys } } };
  const answer =
    behavior === 'refusing'
      ? refusal
      : (answers[method]?.(params) ?? (method === 'tools/call' ? undefined : refusal));
  if (answer !== undefined) send({ id, ...answer });
  if (method !== 'tools/list') return;
  for (const data of [...repeated, { repeated, asKeys }])
    send({ method: 'notifications/message', params: { level: repeated[0], logger: repeated[0], data } });
  for (const uri of repeated) send({ method: 'notifications/resources/updated', params: { uri } });
  send({ id: repeated.join(), result: asKeys });
  send(asKeys);
});

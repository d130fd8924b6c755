/**
 * Cases for every parser of foreign bytes: the bytes that a seed stands for, and what each parser does with them. They vary in
 * depth, size and shape: nested, wide, with many names or long texts, cut, mutated, wrongly escaped, not UTF-8, in many lines.
 */
import { Readable } from 'node:stream';
import { SeededRandom } from '../chaos/seeded-random.mjs';

const WORDS = [
  'jsonrpc',
  'id',
  'method',
  'params',
  'result',
  'error',
  '__proto__',
  'constructor',
  '_meta',
  'tools',
  'name',
  'inputSchema',
  'type',
  'object',
  '2.0',
  'tools/call',
  'tools/list',
  'ping',
  '',
  '\ud800',
  '\u2028',
  '\0',
  '😀',
  '1e400',
  '-0',
];
const SCRAPS = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '"',
  '\\',
  '\\u',
  '\\ud800',
  '\n',
  '\r\n',
  '\r',
  'data: ',
  'event: ',
  'id: ',
  'retry: 1',
  '\n\n',
  '\ufeff',
  'null',
  'true',
  '1e999',
  '-',
  '// x\n',
  '/*',
  '*/',
  '# x\n',
  '[[',
  ']]',
  ' = ',
  '- ',
  '&a ',
  '*a ',
  '!!js ',
  '<<: ',
  "'''",
  '"""',
  'Bearer ',
  'scope="',
  '=',
];

/** A JSON value of bounded depth and width. */
function valueOf(random, depth) {
  const kind = random.between(0, depth <= 0 ? 4 : 7);
  if (kind === 0) return random.pick([null, true, false]);
  if (kind === 1) return random.pick([0, -1, 1.5, 2 ** 53, 1e308, random.between(-1_000, 1_000)]);
  if (kind <= 3) return random.pick(WORDS);
  if (kind === 4) return random.pick(WORDS).repeat(random.between(0, 40));
  const width = random.between(0, 6);
  if (kind === 5) return Array.from({ length: width }, () => valueOf(random, depth - 1));
  return Object.fromEntries(
    Array.from({ length: width }, () => [random.pick(WORDS), valueOf(random, depth - 1)]),
  );
}

function message(random) {
  const params = valueOf(random, 4);
  const id = random.pick([1, 'a', null, -1, 1.5, {}, undefined]);
  const tools = Array.from({ length: random.between(0, 5) }, () => valueOf(random, 4));
  return random.pick([
    { jsonrpc: '2.0', id, method: random.pick(WORDS), params },
    { jsonrpc: '2.0', id, result: params },
    { jsonrpc: '2.0', id, result: { tools } },
    { jsonrpc: '2.0', id, error: { code: 1, message: 'x', data: params } },
  ]);
}

const BASES = [
  (random) => JSON.stringify(message(random)),
  (random) => JSON.stringify(message(random), undefined, random.between(0, 3)),
  (random) => JSON.stringify(Array.from({ length: random.between(0, 5) }, () => message(random))),
  (random) => JSON.stringify(valueOf(random, random.between(0, 8))) ?? '',
  (random) => `data: ${JSON.stringify(message(random))}\n\n`.repeat(random.between(1, 3)),
  (random) => Array.from({ length: random.between(0, 60) }, () => random.pick(SCRAPS)).join(''),
  (random, size) =>
    random.pick(['[', '{"a":', '- ', '[[', '{']).repeat(size) + ']'.repeat(random.between(0, size)),
  (random, size) => `[${random.pick(['{},', '[],', '0,', '"",', '1e9,', 'null,']).repeat(size)}0]`,
  (random, size) => `{${Array.from({ length: size }, (_, index) => `"${index.toString(36)}":0`).join()}}`,
  (random, size) =>
    `"${random.pick(['\\"', '\\\\', 'a', 'é', '\\u0000', '[', '{'])}`
      .repeat(1)
      .padEnd(size, random.pick(['\\"', '\\\\', 'x'])),
  (random, size) => `log ${random.pick(['{"id":', '{"jsonrpc":"2.0",', '{ ', '{"result":[ '])}`.repeat(size),
  (random, size) => `${random.pick(['\n', ' \n', '{\n', '"a":\n', ':\n', '\r'])}`.repeat(size),
];

/** Most units of a large case. */
const SIZES = [3, 30, 300, 3_000, 30_000];

/** The bytes of a seed. */
export function bytesOf(seed) {
  const random = new SeededRandom(seed);
  const size = random.pickWeighted(SIZES.map((most, index) => ({ most, weight: 4 ** -index }))).most;
  let text = random.pick(BASES)(random, random.between(0, size));
  for (let change = random.between(0, 3); change > 0; change -= 1) {
    const at = random.between(0, text.length);
    const end = at + random.between(0, 4);
    text = text.slice(0, at) + random.pick(['', ...SCRAPS, ...WORDS]) + text.slice(end);
  }
  const bytes = Buffer.from(text);
  if (random.chance(0.2) && bytes.length > 0)
    bytes[random.between(0, bytes.length - 1)] = random.between(0, 255);
  return bytes;
}

/**
 * What each parser does with bytes. It throws only for a fault.
 *
 * @param {(path: string) => Promise<Record<string, any>>} load loads a source, by its path in the project
 */
export async function parsersFrom(load) {
  const [
    json,
    rpc,
    reader,
    events,
    inbound,
    nulls,
    tools,
    extras,
    challenge,
    answer,
    client,
    pages,
    log,
    open,
    config,
    toml,
    yaml,
    oversize,
  ] = await Promise.all(
    [
      '/src/json/parse-json.ts',
      '/src/transports/json-rpc.ts',
      '/src/transports/stdio/message-reader.ts',
      '/src/transports/http/event-stream.ts',
      '/src/protocol/inbound-message.ts',
      '/src/protocol/absent-nulls.ts',
      '/src/catalog/tool-check.ts',
      '/src/catalog/extra-check.ts',
      '/src/auth/challenge.ts',
      '/src/auth/oauth-answer.ts',
      '/src/gateway/client/client-message.ts',
      '/src/gateway/client/pages.ts',
      '/src/event-log/format/read-log.ts',
      '/src/event-log/replay/open-log.ts',
      '/src/config/files/parse-config.ts',
      '/src/config/files/toml-text.ts',
      '/src/config/files/yaml-text.ts',
      '/src/transports/message-limits.ts',
    ].map(load),
  );
  const ignore = () => {};
  const take = (value) => {
    inbound.toInbound(value);
    client.toClientMessage(value);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      nulls.resultWithoutNulls('tools/list', value);
      const listed = value.result?.tools ?? value.tools;
      if (Array.isArray(listed)) {
        tools.checkTools(listed);
        for (const kind of ['resources', 'resourceTemplates', 'prompts']) extras.checkExtras(kind, listed);
      }
    }
  };
  /** Some refusals are errors by contract. */
  const refusing = (work) => {
    try {
      work();
    } catch (error) {
      if (error instanceof RangeError || error instanceof TypeError) throw error;
    }
  };
  const sink = { message: take, noise: ignore, tooLarge: ignore, tooComplex: ignore, endless: ignore };
  return {
    json: (bytes) => take(json.parseJson(bytes.toString())),
    messages: (bytes) => (rpc.parseMessages(bytes.toString()) ?? []).forEach(take),
    stdio: (bytes) => {
      const lines = new reader.MessageReader(sink, 100_000);
      for (let from = 0; from < bytes.length; from += 16_384) lines.push(bytes.subarray(from, from + 16_384));
      lines.end();
    },
    'server-sent events': (bytes) =>
      events.readEvents(
        Readable.from([bytes.subarray(0, bytes.length >> 1), bytes.subarray(bytes.length >> 1)]),
        {
          maxSize: 100_000,
          onEvent: ({ data }) => (rpc.parseMessages(data) ?? []).forEach(take),
          onRetry: ignore,
          onactivity: ignore,
          onOversize: ignore,
        },
      ),
    'id of an answer': (bytes) => oversize.answeredId(oversize.endsOf(bytes.toString())),
    'OAuth document': (bytes) => {
      const text = bytes.toString();
      answer.withoutNulls(text);
      refusing(() => answer.requireUsable(200, text));
    },
    challenge: (bytes) => {
      const { scope } = challenge.parseChallenge(bytes.toString());
      challenge.toScopes(scope);
    },
    cursor: (bytes) =>
      refusing(() =>
        pages.pageOf({ list: 'x', entries: [1, 2], keyOf: String, pageSize: 1 }, bytes.toString('base64url')),
      ),
    'event log': (bytes) => {
      const parser = new log.LogParser();
      parser.push(bytes);
      parser.end();
      open.openBytes(bytes);
    },
    'JSON configuration': (bytes) => config.parseConfigText(bytes.toString(), 'x.json'),
    'TOML configuration': (bytes) => void toml.readTomlText(bytes.toString()),
    'YAML configuration': (bytes) => void yaml.readYamlText(bytes.toString()),
  };
}

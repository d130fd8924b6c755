/** The routes of the inspection server: its answer to each request that is allowed. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { brotliDecompressSync } from 'node:zlib';
import { parseJson } from '../json/parse-json.js';
import { answerJson, beginAnswer, isRefused, LINES_TYPE, refuse, type Refused } from './inspector-answers.js';
import type { PageFile, PageFiles } from './page-files.js';
import { INSPECTION_PATHS, type CommandRequest } from './page-protocol.js';
import { readBody } from '../transports/http/server-limits.js';
import type { InspectionSource } from './inspection-source.js';
import { bridgeFiles, STATELY_STREAM } from './stately-bridge.js';

/** Maximum length of a request body, bytes. */
const MAX_BODY = 16 * 1_024;
/** Maximum length of a name or word in a request, characters. */
const MAX_WORD = 500;
/** A browser opens at most six connections to one host: one is left for the other requests of the pages. */
const MAX_STREAMS = 5;

const NO_LIVE: Refused = { status: 404, error: 'This is a log: it takes no commands and lists no tools.' };
const NO_HOSTS: Refused = { status: 404, error: 'This is no fleet: it has no hosts.' };
const NO_BRIDGE: Refused = { status: 404, error: "There is no bridge to Stately's inspector here." };
const TOO_MANY: Refused = { status: 503, error: `${MAX_STREAMS} pages are open already. Close one.` };
const TOO_LONG: Refused = { status: 413, error: `The body is longer than ${MAX_BODY} bytes.` };
const NO_COMMAND: Refused = {
  status: 400,
  error: "A command is a JSON object with the strings 'server' and 'command'.",
};
const NOT_BUILT: Refused = {
  status: 503,
  error:
    "The page is not there. Where a host is bundled, install mcp-troupe, of the same version, in a 'node_modules' beside or above the bundle; in the repository, run 'npm run build'.",
};

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
}

export class Routes {
  readonly #source: InspectionSource;
  readonly #files: PageFiles;
  readonly #bridge: ReturnType<typeof bridgeFiles> | undefined;
  #streams = 0;
  #logs = 0;

  /** `viewer` is the address of the page behind the bridge to Stately's protocol; undefined for no bridge. */
  constructor(source: InspectionSource, files: PageFiles, viewer: URL | undefined) {
    this.#source = source;
    this.#files = files;
    this.#bridge = viewer && bridgeFiles(viewer);
  }

  /** A file of the page. It holds no data of the troupe, so it needs no token. */
  async page({ request, response, url }: Exchange): Promise<void> {
    if (!allows(['GET', 'HEAD'], request, response)) return;
    const bridge = this.#bridge?.get(url.pathname);
    if (bridge !== undefined) {
      beginAnswer(response, bridge.type, { 'content-security-policy': bridge.policy });
      response.end(bridge.text);
      return;
    }
    const file = await this.#files.get(url.pathname);
    if (file !== undefined) {
      return sendFile(file, request, response);
    }
    const isBuilt = url.pathname !== '/' || (await this.#files.isBuilt());
    refuse(response, isBuilt ? { status: 404, error: 'There is no such file.' } : NOT_BUILT);
  }

  async api(exchange: Exchange): Promise<void> {
    const { request, response, url } = exchange;
    const methods = url.pathname === INSPECTION_PATHS.command ? ['POST'] : ['GET', 'HEAD'];
    if (!allows(methods, request, response)) return;
    switch (url.pathname) {
      case INSPECTION_PATHS.stream:
        return this.#watch(exchange);
      case STATELY_STREAM:
        return this.#stately(exchange);
      case INSPECTION_PATHS.command:
        return this.#command(exchange);
      case INSPECTION_PATHS.tools:
        return this.#tools(exchange);
      case INSPECTION_PATHS.log:
        return this.#log(exchange);
      default:
        return refuse(response, { status: 404, error: 'There is no such address.' });
    }
  }

  async #watch(exchange: Exchange): Promise<void> {
    const { request, response, url } = exchange;
    const host = url.searchParams.get('host');
    if (host === null || request.method === 'HEAD')
      return this.#stream(exchange, (page) => this.#source.watch(page));
    if (this.#source.hosts === undefined) return refuse(response, NO_HOSTS);
    if (this.#streams >= MAX_STREAMS) return refuse(response, TOO_MANY);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const stream = await this.#source.hosts.open(host, gone.signal);
    if (isRefused(stream)) return refuse(response, stream);
    this.#stream(exchange, (page) => void pipeline(stream, page).catch(() => {}));
  }

  #stately(exchange: Exchange): void {
    const { live } = this.#source;
    if (this.#bridge === undefined || live === undefined) return refuse(exchange.response, NO_BRIDGE);
    this.#stream(exchange, (viewer) => live.stately(viewer));
  }

  #stream({ request, response }: Exchange, watch: (stream: ServerResponse) => void): void {
    // A probe must not attach a recorder.
    const isProbe = request.method === 'HEAD';
    if (!isProbe && this.#streams >= MAX_STREAMS) return refuse(response, TOO_MANY);
    beginAnswer(response, LINES_TYPE);
    if (isProbe) return void response.end();
    this.#streams += 1;
    response.once('close', () => (this.#streams -= 1));
    watch(response);
  }

  async #command({ request, response }: Exchange): Promise<void> {
    const { live } = this.#source;
    if (live === undefined) return refuse(response, NO_LIVE);
    const body = await readBody(request, MAX_BODY);
    if (body === undefined) return refuse(response, TOO_LONG);
    const command = toCommandRequest(body);
    answer(response, command === undefined ? NO_COMMAND : live.command(command));
  }

  #tools({ response, url }: Exchange): void {
    const server = url.searchParams.get('server') ?? undefined;
    answer(response, this.#source.live?.tools(server) ?? NO_LIVE);
  }

  async #log({ request, response, url }: Exchange): Promise<void> {
    if (this.#logs >= MAX_STREAMS) return refuse(response, TOO_MANY);
    beginAnswer(response, LINES_TYPE);
    if (request.method === 'HEAD') return void response.end();
    this.#logs += 1;
    const gone = new AbortController();
    response.once('close', () => {
      this.#logs -= 1;
      gone.abort();
    });
    const followed = url.searchParams.has('follow') ? gone.signal : undefined;
    await pipeline(Readable.from(this.#source.log(followed)), response);
  }
}

/** Browsers accept Brotli from this machine; other programs may not. */
function sendFile(
  { type, bytes, isCompressed }: PageFile,
  { headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const accepts = /\bbr\b/.test(String(headers['accept-encoding']));
  const body = isCompressed && !accepts ? brotliDecompressSync(bytes) : bytes;
  const encoding = isCompressed && accepts ? { 'content-encoding': 'br' } : {};
  beginAnswer(response, type, { 'content-length': body.length, ...encoding });
  response.end(body);
}

function answer(response: ServerResponse, body: object): void {
  if (isRefused(body)) refuse(response, body);
  else answerJson(response, body);
}

function allows(
  methods: readonly string[],
  { method = '' }: IncomingMessage,
  response: ServerResponse,
): boolean {
  const isAllowed = methods.includes(method);
  const error = `This address takes ${methods.join(' and ')}.`;
  if (!isAllowed) refuse(response, { status: 405, error }, { allow: methods.join(', ') });
  return isAllowed;
}

function toCommandRequest(body: string): CommandRequest | undefined {
  const value = parseJson(body);
  if (typeof value !== 'object' || value === null) return undefined;
  const { server, command, hash } = value as Partial<Record<keyof CommandRequest, unknown>>;
  if (!isWord(server) || !isWord(command)) return undefined;
  if (hash === undefined) return { server, command };
  return isWord(hash) ? { server, command, hash } : undefined;
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_WORD;
}

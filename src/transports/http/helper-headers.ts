/**
 * The headers that a program provides (`headersHelper`). It runs before the session, and again if the server refuses them.
 *
 * H1. Requests that are refused at the same time share one run. The run is cancelled when no request waits for it any longer.
 * H2. The values are secrets: they are registered for masking before they are sent.
 */
import { isObject } from '../../config/entry/read-shape.js';
import { parseJson } from '../../json/parse-json.js';
import { abortable } from '../../async/abort.js';
import { TransportError } from '../../failures/transport-error.js';
import { lowerCased } from './server-address.js';
import { asText } from '../../text/as-text.js';

/** Additional headers of a session, which may change. */
export interface ChangingHeaders {
  /** In lower case. */
  readonly current: Readonly<Record<string, string>>;
  /** Whether the headers now differ from the refused ones. Rejects if they cannot be renewed. */
  renewed(refused: Readonly<Record<string, string>>, signal: AbortSignal): Promise<boolean>;
}

export interface HelperPorts {
  /** Runs the program and resolves with its output. */
  readonly run: (signal: AbortSignal) => Promise<string>;
  /** Masks these texts from now on. */
  readonly remember: (secrets: readonly string[]) => void;
}

/** Runs the program once. Rejects with a `TransportError` if it prints no headers. */
export async function openHelperHeaders(ports: HelperPorts, signal: AbortSignal): Promise<ChangingHeaders> {
  const headers = new HelperHeaders(ports);
  await headers.renewed(headers.current, signal);
  return headers;
}

interface Run {
  readonly over: AbortController;
  readonly done: Promise<void>;
  /** Number of requests that wait for it. */
  waiting: number;
}

class HelperHeaders implements ChangingHeaders {
  current: Readonly<Record<string, string>> = {};
  #running: Run | undefined;

  constructor(private readonly ports: HelperPorts) {}

  async renewed(refused: Readonly<Record<string, string>>, signal: AbortSignal): Promise<boolean> {
    if (this.current === refused) await this.#run(signal);
    return this.current !== refused;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const run = (this.#running ??= this.#begin());
    run.waiting += 1;
    try {
      await abortable(run.done, signal);
    } finally {
      run.waiting -= 1;
      if (run.waiting === 0) {
        // A cancelled run may take a while to end: the next request starts another one.
        this.#forget(run);
        run.over.abort(signal.reason);
      }
    }
  }

  #begin(): Run {
    const over = new AbortController();
    const run = { over, done: this.#read(over.signal), waiting: 0 };
    const forget = (): void => this.#forget(run);
    run.done.then(forget, forget);
    return run;
  }

  #forget(run: Run): void {
    if (this.#running === run) this.#running = undefined;
  }

  async #read(signal: AbortSignal): Promise<void> {
    const headers = readHeaders(await this.ports.run(signal));
    this.ports.remember(Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]));
    if (JSON.stringify(headers) !== JSON.stringify(this.current)) this.current = headers;
  }
}

/** Numbers and booleans are converted to text. The error message contains nothing of the output. */
function readHeaders(output: string): Readonly<Record<string, string>> {
  const value = parseJson(output);
  const isScalar = (item: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof item);
  if (!isObject(value) || !Object.values(value).every(isScalar)) {
    throw new TransportError({
      code: 'spawn-failed',
      message: "The 'headersHelper' did not print a JSON object of headers.",
      hint: 'Its whole stdout must be such an object, for example { "Authorization": "Bearer …" }.',
    });
  }
  return lowerCased(Object.fromEntries(Object.entries(value).map(([name, item]) => [name, asText(item)])));
}

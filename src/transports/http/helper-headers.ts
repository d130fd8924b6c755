/**
 * The headers that a program gives (`headersHelper`): run before the session, and again if the server refuses them.
 *
 * H1. Requests that are refused at the same time share one run. It ends when none of them waits for it any longer.
 * H2. Their values are secrets: they are remembered before they are sent.
 */
import { isObject } from '../../config/entry/read-shape.js';
import { parseJson } from '../../json/parse-json.js';
import { abortable } from '../../async/abortable.js';
import { TransportError } from '../../failures/transport-error.js';
import { lowerCased } from './server-address.js';

/** Further headers of a session, which may change. */
export interface ChangingHeaders {
  /** In lower case. */
  readonly current: Readonly<Record<string, string>>;
  /** Whether there are other headers now than the refused ones. Rejects if they cannot be renewed. */
  renewed(refused: Readonly<Record<string, string>>, signal: AbortSignal): Promise<boolean>;
}

export interface HelperPorts {
  /** Runs the program and resolves with its output. */
  readonly run: (signal: AbortSignal) => Promise<string>;
  /** Masks these texts from now on. */
  readonly remember: (secrets: readonly string[]) => void;
}

/** Runs the program once. Rejects with a `TransportError` if it gives no headers. */
export async function openHelperHeaders(ports: HelperPorts, signal: AbortSignal): Promise<ChangingHeaders> {
  const headers = new HelperHeaders(ports);
  await headers.renewed(headers.current, signal);
  return headers;
}

class HelperHeaders implements ChangingHeaders {
  current: Readonly<Record<string, string>> = {};
  #running: { readonly over: AbortController; readonly done: Promise<void> } | undefined;
  #waiting = 0;

  constructor(private readonly ports: HelperPorts) {}

  async renewed(refused: Readonly<Record<string, string>>, signal: AbortSignal): Promise<boolean> {
    if (this.current === refused) await this.#run(signal);
    return this.current !== refused;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const running = (this.#running ??= this.#begin());
    this.#waiting += 1;
    try {
      await abortable(running.done, signal);
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) running.over.abort(signal.reason);
    }
  }

  #begin() {
    const over = new AbortController();
    const done = this.#read(over.signal).finally(() => (this.#running = undefined));
    done.catch(() => {});
    return { over, done };
  }

  async #read(signal: AbortSignal): Promise<void> {
    const headers = readHeaders(await this.ports.run(signal));
    this.ports.remember(Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)]));
    if (JSON.stringify(headers) !== JSON.stringify(this.current)) this.current = headers;
  }
}

/** Numbers and booleans are taken as text. The message holds nothing of the output. */
function readHeaders(output: string): Readonly<Record<string, string>> {
  const value = parseJson(output);
  const isScalar = (item: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof item);
  if (!isObject(value) || !Object.values(value).every(isScalar)) {
    throw new TransportError({
      code: 'spawn-failed',
      message: "The 'headersHelper' printed no JSON object of headers.",
      hint: 'It must print nothing else on its stdout, such as { "Authorization": "Bearer …" }.',
    });
  }
  return lowerCased(Object.fromEntries(Object.entries(value).map(([name, item]) => [name, String(item)])));
}

/** How the requests to remote servers leave this machine: the option `network`, and its check. */
import type { Readable } from 'node:stream';
import { isObject } from '../../config/entry/read-shape.js';
import type { HttpServerConfig } from '../../config/entry/server-config.js';
import type { OpenExchange } from './http-session.js';

/** The part of a dispatcher of undici that is used. Any version works. */
export interface Dispatcher {
  /**
   * Sends one request.
   *
   * @param options As in `Dispatcher.request` of undici: origin, path, method, headers, body and signal.
   */
  request(options: never): Promise<{
    /** Status of the reply. */
    readonly statusCode: number;
    /** Headers of the reply, by their names in lower case. */
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    /** Body of the reply. */
    readonly body: Readable;
  }>;
}

/** How the requests to remote servers leave this machine. */
export interface NetworkOptions {
  /**
   * Address of the proxy for every request, such as `http://user:password@proxy.example:3128`; `false` uses none. Default:
   * the variables `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` of this process, upper or lower case; addresses of
   * this computer are then reached directly.
   */
  readonly proxy?: string | false;
  /** Certificates of further authorities, in addition to Node's own: paths of PEM files, or PEM text. Default: none. */
  readonly ca?: string | readonly string[];
  /** The client certificate with its chain, for servers that ask for one: the path of a PEM file, or PEM text. */
  readonly cert?: string;
  /**
   * The key of `cert`, in the same form. It is used only for connections to the origin of the server. Default: the file or text
   * of `cert`, which can hold both.
   */
  readonly key?: string;
  /** The passphrase of `key`, if it is encrypted. */
  readonly passphrase?: string;
  /**
   * Sends the requests instead of Node's HTTP client. It must honor `redirect: 'manual'` and `signal`. Proxy and certificates
   * are then its own responsibility.
   */
  readonly fetch?: typeof globalThis.fetch;
  /** A dispatcher of undici that sends the requests, such as a `ProxyAgent` or a `MockAgent`. It is not closed. */
  readonly dispatcher?: Dispatcher;
}

/** The server that a request goes to. */
export interface NetworkServer {
  /** Its configured name. */
  readonly name: string;
  /** Its address, expanded. */
  readonly url: string;
}

/** A function is called for each session, and gives the options for that server; undefined means the defaults. */
export type NetworkOption = NetworkOptions | ((server: NetworkServer) => NetworkOptions | undefined);

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

const CHECKS: Readonly<
  Record<keyof NetworkOptions, readonly [expected: string, fits: (value: unknown) => boolean]>
> = {
  proxy: ['an address or false', (value) => value === false || isText(value)],
  ca: ['a string or a list of strings', (value) => [value].flat().every(isText)],
  cert: ['a string', isText],
  key: ['a string', isText],
  passphrase: ['a string', isText],
  fetch: ['a function', (value) => typeof value === 'function'],
  dispatcher: [
    "an object with the function 'request'",
    (value) => typeof value === 'object' && value !== null && 'request' in value,
  ],
};

/** Options that conflict with a client of the host. */
const OF_OWN_CLIENT = ['proxy', 'ca', 'cert', 'key', 'passphrase'];

/** The problems of the `network` option; empty if it is left out. Pure. */
export function networkProblems(network: unknown): readonly { field: string; message: string }[] {
  if (network === undefined || typeof network === 'function') return [];
  if (!isObject(network)) return [{ field: 'network', message: 'expected an object or a function' }];
  const given = Object.keys(network).filter((field) => network[field] !== undefined);
  const problems = given.flatMap((field) => {
    const [expected, fits] = CHECKS[field as keyof NetworkOptions] ?? [];
    if (expected === undefined || fits === undefined) return [{ field, message: 'is not an option' }];
    return fits(network[field]) ? [] : [{ field, message: `expected ${expected}` }];
  });
  const conflict = (field: string, other: string) => ({ field, message: `conflicts with '${other}'` });
  const client = given.includes('fetch') ? 'fetch' : 'dispatcher';
  if (given.includes(client)) {
    const replaced = client === 'fetch' ? [...OF_OWN_CLIENT, 'dispatcher'] : OF_OWN_CLIENT;
    problems.push(
      ...given.filter((field) => replaced.includes(field)).map((field) => conflict(field, client)),
    );
  }
  if (given.includes('key') && !given.includes('cert'))
    problems.push({ field: 'key', message: "needs 'cert'" });
  return problems.map(({ field, message }) => ({ field: `network.${field}`, message }));
}

// Decides how the requests to each server are sent. The code that decides is loaded with the first remote server.

/** How the requests to a server are sent, by the option of the host, the entry and the environment. */
export type NetworkSource = (name: string, config: HttpServerConfig) => Promise<OpenExchange>;

export function createNetworkSource(option: NetworkOption | undefined): NetworkSource {
  return async (name, config) => {
    const { openNetwork } = await import('./network.js');
    return openNetwork({ name, config }, option);
  };
}

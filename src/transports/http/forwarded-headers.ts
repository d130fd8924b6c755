/** The headers of a gateway's client that are passed on to one server. */
import { isForwardable } from '../../config/entry/forwardable-header.js';
import type { RequestHeaders } from '../session-transport.js';
import { lowerCased } from './server-address.js';

const NONE: Readonly<Record<string, string>> = {};

export class ForwardedHeaders {
  /** In lower case. */
  readonly #names: ReadonlySet<string>;

  constructor(names: readonly string[] = []) {
    this.#names = new Set(names.map((name) => name.toLowerCase()).filter(isForwardable));
  }

  /**
   * The headers to pass on, in lower case. Leaves out those that the client meant for the gateway alone (RFC 9110,
   * section 7.6.1). Throws `config-invalid` if one cannot be sent.
   */
  of(given: RequestHeaders | undefined): Readonly<Record<string, string>> {
    if (given === undefined || this.#names.size === 0) return NONE;
    const headers = new Map(
      Object.entries(given).flatMap(([name, value]) =>
        value === undefined
          ? []
          : [[name.toLowerCase(), typeof value === 'string' ? value : value.join(', ')]],
      ),
    );
    const forGateway = new Set(
      headers
        .get('connection')
        ?.toLowerCase()
        .split(/\s*,\s*/),
    );
    return lowerCased(
      Object.fromEntries([...headers].filter(([name]) => this.#names.has(name) && !forGateway.has(name))),
    );
  }
}

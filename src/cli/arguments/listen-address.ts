/** An address to listen on, as one word. */
import { InvalidArgumentError } from 'commander';
import { parseUrl } from '../../text/parse-url.js';

export interface ListenAddress {
  /** Default: only this computer. */
  readonly host?: string;
  readonly port: number;
}

const HIGHEST_PORT = 65_535;

/** `PORT`, `HOST:PORT`, or `[IPV6]:PORT`. */
export function toListenAddress(text: string): ListenAddress {
  const [, name, digits = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  const isName = name === undefined || parseUrl(`http://${name}:1`)?.host === `${name.toLowerCase()}:1`;
  if (digits === '' || port > HIGHEST_PORT || !isName)
    throw new InvalidArgumentError('Expected a port such as 9464, or an address such as 0.0.0.0:9464.');
  return { ...(name !== undefined && { host: name.replace(/^\[(.*)\]$/, '$1') }), port };
}

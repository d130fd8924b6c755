/**
 * Chooses the proxy of a request from the variables that curl and most other programs use. Pure.
 *
 * P1. `http_proxy` is for `http:` addresses, `https_proxy` for `https:`, `all_proxy` for both. A lower-case name wins over
 *     its upper-case form, and an empty value means no proxy.
 * P2. Neither this computer nor a host that `no_proxy` names is reached through a proxy from these variables.
 * P3. The credentials of a proxy are sent only to the proxy; no message contains them.
 */
import { BlockList, isIP } from 'node:net';
import { TransportError } from '../../failures/transport-error.js';
import { percentDecoded, isLoopback } from '../../text/host-reach.js';
import { withoutBrackets } from './server-address.js';
import { parseUrl } from '../../text/parse-url.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Proxy {
  /** Without credentials. */
  readonly url: URL;
  /** Its address as messages show it. */
  readonly shown: string;
  /** The value of `Proxy-Authorization`; undefined if the address has no credentials. */
  readonly authorization: string | undefined;
}

/** Undefined: the address is reached directly. Throws `config-invalid` if the proxy cannot be used. */
export function proxyOfEnvironment(url: URL, env: Environment): Proxy | undefined {
  const { hostname, protocol } = url;
  if (isLoopback(hostname) || hostname.endsWith('.localhost')) return undefined;
  const exceptions = read(env, 'no_proxy')?.text ?? '';
  if (isExcepted(url, exceptions)) return undefined;
  const named = read(env, `${protocol.slice(0, -1)}_proxy`) ?? read(env, 'all_proxy');
  return named === undefined || named.text === '' ? undefined : parseProxy(named.text, named.name);
}

/**
 * `from` is the variable or field that names the proxy. Throws `config-invalid` for anything but a proxy that speaks HTTP.
 */
export function parseProxy(text: string, from: string): Proxy {
  const address = text.includes('://') ? text : `http://${text}`;
  const url = parseUrl(address);
  if (url === undefined || url.hostname === '') throw unusable(`${from} is not the address of a proxy.`);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw unusable(
      `${from} names a proxy with '${url.protocol}//'; only http: and https: proxies are supported.`,
    );
  }
  const { username, password } = url;
  const hasCredentials = username !== '' || password !== '';
  const pair = `${percentDecoded(username)}:${percentDecoded(password)}`;
  return {
    url: new URL(`${url.protocol}//${url.host}`),
    shown: `${url.protocol}//${url.host}`,
    authorization: hasCredentials ? `Basic ${Buffer.from(pair).toString('base64')}` : undefined,
  };
}

/** Whether an entry of `NO_PROXY` names the host of the address: a name with its subdomains, an IP address or a network. */
export function isExcepted(url: URL, exceptions: string): boolean {
  const host = plainHost(url.hostname);
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return exceptions
    .toLowerCase()
    .split(/[\s,]+/)
    .some((exception) => exception !== '' && isNamed(host, port, exception));
}

function isNamed(host: string, port: string, exception: string): boolean {
  if (exception === '*') return true;
  if (exception.includes('/')) return isWithin(host, exception);
  // The colons of a bare IPv6 address separate no port.
  const [, name = '', ofPort] =
    isIP(exception) === 6 ? ['', exception] : (/^(.*?)(?::(\d+))?$/.exec(exception) ?? []);
  if (ofPort !== undefined && ofPort !== port) return false;
  const wanted = plainHost(name.replace(/^\*(?=\.)/, ''));
  if (wanted.startsWith('*')) return host.endsWith(wanted.slice(1));
  const domain = wanted.replace(/^\./, '');
  return domain !== '' && (host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`)));
}

/** A network such as `10.0.0.0/8` or `fd00::/8`. */
function isWithin(host: string, network: string): boolean {
  const [base = '', bits = ''] = network.split('/');
  const address = plainHost(base);
  const version = isIP(address);
  if (version === 0 || isIP(host) !== version || !/^\d+$/.test(bits)) return false;
  const prefix = Number(bits);
  if (prefix > (version === 4 ? 32 : 128)) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(address, prefix, family);
  return list.check(host, family);
}

/** Without the brackets of an IPv6 address, and without the dot of an absolute name. */
function plainHost(host: string): string {
  return withoutBrackets(host).replace(/\.$/, '');
}

function read(env: Environment, name: string): { readonly name: string; readonly text: string } | undefined {
  const used = [name, name.toUpperCase()].find((spelling) => env[spelling] !== undefined);
  return used === undefined ? undefined : { name: used, text: env[used]?.trim() ?? '' };
}

function unusable(message: string): TransportError {
  const hint = 'Write the address of a proxy like http://user:password@proxy.example:3128.';
  return new TransportError({ code: 'config-invalid', message, hint }, { written: false });
}

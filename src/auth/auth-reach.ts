/**
 * Where the OAuth metadata of a server may lead: requests to addresses that it names come from this machine, and so reach what
 * the server itself may not.
 *
 * R1. A server on the internet leads to no address of this machine or of a private network, and no server leads to a
 *     link-local address, where clouds keep credentials, unless it is there itself. A name counts as the addresses that it
 *     has; a name that cannot be resolved here, as behind a proxy, is left to the request.
 * R2. On this machine and on private networks, metadata is read only at well-known addresses or at the server's own, and a
 *     request is posted only to the origin that published the metadata or to the server's own: no server chooses the path of
 *     a GET or of a POST to a neighbor.
 * R3. Addresses that the entry or the host names are reached anywhere.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { TransportError } from '../failures/transport-error.js';
import { shownUrl } from '../transports/http/server-address.js';
import { isLoopback } from '../transports/loopback-host.js';

/** Who reaches an address, from the fewest to everybody. */
type Reach = 'link-local' | 'loopback' | 'private' | 'public';

/** The addresses of a host name; rejects if there is none. */
export type LookUp = (host: string) => Promise<readonly string[]>;

const listOf = (...subnets: readonly (readonly [address: string, prefix: number])[]): BlockList => {
  const list = new BlockList();
  for (const [address, prefix] of subnets)
    list.addSubnet(address, prefix, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  return list;
};

/** RFC 6890 and its successors: the registry of special-purpose addresses. */
const LINK_LOCAL = listOf(['169.254.0.0', 16], ['fe80::', 10]);
const THIS_MACHINE = listOf(['127.0.0.0', 8], ['0.0.0.0', 8], ['::1', 128], ['::', 128]);
const PRIVATE = listOf(
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['fc00::', 7],
  ['fec0::', 10],
);

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');

/** The reach of an address as it stands in a URL; undefined for a name that has to be resolved. */
function reachOf(host: string): Reach | undefined {
  if (isLoopback(host) || /(?:^|\.)localhost$/i.test(host)) return 'loopback';
  const version = isIP(host);
  if (version === 0) return undefined;
  const embedded = version === 6 ? embeddedIPv4(host) : undefined;
  if (embedded !== undefined) return reachOf(embedded);
  const family = version === 6 ? 'ipv6' : 'ipv4';
  if (LINK_LOCAL.check(host, family)) return 'link-local';
  if (THIS_MACHINE.check(host, family)) return 'loopback';
  return PRIVATE.check(host, family) ? 'private' : 'public';
}

/** The IPv4 address in `::ffff:0:0/96`, `::/96` and `64:ff9b::/96`, as a URL writes it. */
function embeddedIPv4(host: string): string | undefined {
  const [, high = '', low = ''] = /^(?:::ffff:|::|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})$/i.exec(host) ?? [];
  if (high === '') return /^(?:::ffff:|::|64:ff9b::)(\d+\.\d+\.\d+\.\d+)$/i.exec(host)?.[1];
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

/** A server may lead to what everybody who reaches it can reach as well, and a program of this machine to its networks. */
function mayLead(from: Reach, to: Reach): boolean {
  if (to === 'public' || from === to) return true;
  return to === 'private' && from === 'loopback';
}

export class AuthReach {
  readonly #server: URL;
  readonly #named: ReadonlySet<string>;
  readonly #lookUp: LookUp;

  /** `named`: the addresses that the entry or the host names. */
  constructor(serverUrl: URL, named: readonly string[] = [], lookUp: LookUp = addressesOf) {
    this.#server = serverUrl;
    this.#named = new Set(
      named.flatMap((address) => (URL.canParse(address) ? [new URL(address).hostname] : [])),
    );
    this.#lookUp = lookUp;
  }

  /** Throws a `TransportError` if the server must not lead there (R1). */
  async require(url: URL): Promise<void> {
    if (url.hostname === this.#server.hostname || this.#named.has(url.hostname)) return;
    const targets = await this.#reaches(url);
    if (targets.every((reach) => reach === 'public')) return;
    const from = await this.#reaches(this.#server);
    // A name may have several addresses; the request may go to any of them.
    const isCovered = (to: Reach): boolean => from.length > 0 && from.every((reach) => mayLead(reach, to));
    if (!targets.every(isCovered)) throw refused(this.#server, url);
  }

  async #reaches(url: URL): Promise<readonly Reach[]> {
    const host = hostOf(url);
    const known = reachOf(host);
    if (known !== undefined) return [known];
    const addresses = await this.#lookUp(host).catch(() => []);
    return addresses.flatMap((address) => reachOf(address) ?? []);
  }
}

/** Throws a `TransportError` if metadata at that address is not to be read (R2). */
export function requireWellKnown(url: URL, server: URL): void {
  const isPublic = (reachOf(hostOf(url)) ?? 'public') === 'public';
  if (isPublic || url.origin === server.origin || url.pathname.startsWith('/.well-known/')) return;
  throw refused(server, url);
}

/** Throws a `TransportError` if the metadata of an issuer must not name that endpoint (R2). */
export function requireOwnEndpoint(url: URL, issuer: URL, server: URL): void {
  const isPublic = (reachOf(hostOf(url)) ?? 'public') === 'public';
  if (isPublic || url.origin === issuer.origin || url.origin === server.origin) return;
  throw refused(server, url);
}

function refused(server: URL, url: URL): TransportError {
  return new TransportError({
    code: 'auth-required',
    message: `${shownUrl(server)} requires a sign-in at ${shownUrl(url)}, an address of a private network or of this machine that it must not choose.`,
    hint: "Nothing was sent there. If the address is right, name it in 'oauth' of the entry (metadataUrl).",
  });
}

async function addressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

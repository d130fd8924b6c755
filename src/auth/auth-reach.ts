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
import { TransportError } from '../failures/transport-error.js';
import { shownUrl } from '../transports/http/server-address.js';
import { hostOf, reachOf, type Reach } from '../text/host-reach.js';
import { parseUrl } from '../text/parse-url.js';

/** The addresses of a host name; rejects if there is none. */
export type LookUp = (host: string) => Promise<readonly string[]>;

/** A server may lead to what everybody who reaches it can reach as well, and a program of this machine to its networks. */
function mayLead(from: Reach, to: Reach): boolean {
  if (to === 'public' || from === to) return true;
  return to === 'private' && from === 'this-machine';
}

export class AuthReach {
  readonly #server: URL;
  readonly #named: ReadonlySet<string>;
  readonly #lookUp: LookUp;

  /** `named`: the addresses that the entry or the host names. */
  constructor(serverUrl: URL, named: readonly string[] = [], lookUp: LookUp = addressesOf) {
    this.#server = serverUrl;
    this.#named = new Set(named.flatMap((address) => parseUrl(address)?.hostname ?? []));
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

/** Whether an address leads to this computer or into a private network. An entry of a repository rarely needs that. Pure. */
import { isLocalSocket } from '../config/entry/local-socket.js';
import { hostOf, reachOf } from '../text/host-reach.js';
import { parseUrl } from '../text/parse-url.js';

/** `this-machine`: loopback. `link-local`: such as the metadata service of a cloud. `private`: a private network. */
export type PrivateNetwork = 'this-machine' | 'private' | 'link-local';

const NAMES: readonly (readonly [PrivateNetwork, RegExp])[] = [
  ['this-machine', /^(?:.+\.)?(?:localhost|localdomain)$|^ip6-(?:localhost|loopback)$/],
  // A name without a dot belongs to the local network.
  ['private', /^[^.]+$|\.(?:local|internal|intranet|private|corp|home|lan|localnet|home\.arpa)$/],
];

/** Undefined for a public address, and for one whose host is not known yet. Other spellings of numbers count as well. */
export function privateNetworkOf(address: string): PrivateNetwork | undefined {
  if (isLocalSocket(address)) return 'this-machine';
  const shown = withDefaults(address);
  // As `fetch` reads it: `http://2130706433` is `127.0.0.1`.
  const url = parseUrl(shown);
  const host = url === undefined ? '' : hostOf(url);
  if (host === '' || host.includes('$')) return undefined;
  const reach = reachOf(host);
  if (reach === undefined) return NAMES.find(([, pattern]) => pattern.test(host))?.[0];
  return reach === 'public' ? undefined : reach;
}

/** With each variable replaced by its default, which counts if nothing else is set. */
function withDefaults(address: string): string {
  const defaults = /\$\{[^{}:]+:-([^{}]*)\}/g;
  return address.replace(defaults, '$1').replace(defaults, '$1');
}

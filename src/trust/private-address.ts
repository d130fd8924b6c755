/** Whether an address leads to this computer or into a private network. An entry of a repository rarely needs that. Pure. */
import { BlockList, isIP } from 'node:net';
import { isLocalSocket } from '../config/entry/local-socket.js';

/** `this-machine`: loopback. `link-local`: such as the metadata service of a cloud. `private`: a private network. */
export type PrivateNetwork = 'this-machine' | 'private' | 'link-local';

const RANGES: Readonly<Record<PrivateNetwork, readonly string[]>> = {
  'this-machine': ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  private: [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '100.64.0.0/10',
    '198.18.0.0/15',
    'fc00::/7',
    'fec0::/10',
  ],
};

const LISTS = Object.entries(RANGES).map(([network, ranges]) => {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return [network as PrivateNetwork, list] as const;
});

const NAMES: readonly (readonly [PrivateNetwork, RegExp])[] = [
  ['this-machine', /^(?:.+\.)?(?:localhost|localdomain)$|^ip6-(?:localhost|loopback)$/],
  // A name without a dot belongs to the local network.
  ['private', /^[^.]+$|\.(?:local|internal|intranet|private|corp|home|lan|localnet|home\.arpa)$/],
];

/** Undefined for a public address, and for one whose host is not known yet. Other spellings of numbers count as well. */
export function privateNetworkOf(address: string): PrivateNetwork | undefined {
  if (isLocalSocket(address)) return 'this-machine';
  const host = hostOf(withDefaults(address));
  if (host === undefined || host.includes('$')) return undefined;
  const family = isIP(host);
  if (family === 0) return NAMES.find(([, pattern]) => pattern.test(host))?.[0];
  const [text, kind] = family === 6 ? unmapped(host) : [host, 'ipv4' as const];
  return LISTS.find(([, list]) => list.check(text, kind))?.[0];
}

/** With each variable replaced by its default, which counts if nothing else is set. */
function withDefaults(address: string): string {
  const defaults = /\$\{[^{}:]+:-([^{}]*)\}/g;
  return address.replace(defaults, '$1').replace(defaults, '$1');
}

/** As `fetch` reads it: `http://2130706433` is `127.0.0.1`. Without brackets and without the dot of the root. */
function hostOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { hostname } = new URL(address);
  return (
    hostname
      .replace(/^\[|\]$/g, '')
      .replace(/\.$/, '')
      .toLowerCase() || undefined
  );
}

/** The IPv4 address inside an IPv6 address that is translated (RFC 4291, RFC 6052), or the address itself. */
function unmapped(host: string): readonly [text: string, kind: 'ipv4' | 'ipv6'] {
  const [, high, low] = /^(?:::ffff:|::|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host) ?? [];
  if (high === undefined || low === undefined) return [host, 'ipv6'];
  const [a, b] = [parseInt(high, 16), parseInt(low, 16)];
  return [[a >> 8, a & 255, b >> 8, b & 255].join('.'), 'ipv4'];
}

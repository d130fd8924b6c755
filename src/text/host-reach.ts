/** Who can reach a host, by its name or address as it is written. Pure: names are not resolved. */
import { BlockList, isIP } from 'node:net';

/** From the fewest who reach it to everybody. `link-local` includes the metadata services of clouds. */
export type Reach = 'link-local' | 'this-machine' | 'private' | 'public';

/** Special-purpose addresses (RFC 6890 and its successors). */
const RANGES: readonly (readonly [reach: Reach, subnets: readonly string[]])[] = [
  ['link-local', ['169.254.0.0/16', 'fe80::/10']],
  ['this-machine', ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128']],
  [
    'private',
    [
      '10.0.0.0/8',
      '100.64.0.0/10',
      '172.16.0.0/12',
      '192.0.0.0/24',
      '192.168.0.0/16',
      '198.18.0.0/15',
      'fc00::/7',
      'fec0::/10',
    ],
  ],
];

/** Made when the first address is looked up: a host of local servers never does. */
let ranges: readonly (readonly [Reach, BlockList])[] | undefined;

function listOf(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = '', prefix] = subnet.split('/');
    list.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

const LOOPBACK = /^(127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|\[::1\]|localhost)$/i;

/** Whether only this computer reaches a host, by its name or address as it stands alone or in a URL. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** The host of a URL in lower case, without the brackets of IPv6 and without the dot of the root. */
export function hostOf({ hostname }: URL): string {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

/** The reach of a host as `hostOf` returns it; undefined for a name that has to be resolved. */
export function reachOf(host: string): Reach | undefined {
  if (isLoopback(host) || host.endsWith('.localhost')) return 'this-machine';
  const version = isIP(host);
  if (version === 0) return undefined;
  const embedded = version === 6 ? embeddedIPv4(host) : undefined;
  if (embedded !== undefined) return reachOf(embedded);
  const family = version === 6 ? 'ipv6' : 'ipv4';
  ranges ??= RANGES.map(([reach, subnets]) => [reach, listOf(subnets)]);
  return ranges.find(([, subnets]) => subnets.check(host, family))?.[0] ?? 'public';
}

/** The IPv4 address in `::ffff:0:0/96`, `::/96` and `64:ff9b::/96` (RFC 4291, RFC 6052), as a URL or a resolver writes it. */
function embeddedIPv4(host: string): string | undefined {
  const [, high = '', low = ''] = /^(?:::ffff:|::|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})$/i.exec(host) ?? [];
  if (high === '') return /^(?:::ffff:|::|64:ff9b::)(\d+\.\d+\.\d+\.\d+)$/i.exec(host)?.[1];
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

/** The text without its percent encoding; unchanged if the encoding is invalid. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

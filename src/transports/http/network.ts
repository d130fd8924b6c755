/**
 * Decides from the options, the entry and the environment how the requests to one server are sent, and reads the
 * certificates for them.
 *
 * N1. Certificates are read again for each session, so that renewed ones are picked up.
 * N2. An entry takes precedence over the option of the host, except for certificate authorities: both lists are used.
 * N3. A client certificate is used only for the origin of the server.
 */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls';
import * as tls from 'node:tls';
import { parseLocalSocket } from '../../config/entry/local-socket.js';
import type { HttpServerConfig } from '../../config/entry/server-config.js';
import { TransportError } from '../../failures/transport-error.js';
import { errorCode } from './http-exchange.js';
import { createDispatcherExchange, createFetchExchange } from './fetch-exchange.js';
import type { OpenExchange } from './http-session.js';
import { createKeepAliveExchange, type Connections } from './keep-alive-exchange.js';
import type { NetworkOption, NetworkOptions } from './network-options.js';
import { parseProxy, proxyOfEnvironment } from './proxy-choice.js';

type EntryFields = Pick<HttpServerConfig, 'url' | 'proxy' | 'ca' | 'cert' | 'key'>;

/** Rejects with `config-invalid` if a file cannot be read or used. */
export async function openNetwork(
  server: { readonly name: string; readonly config: EntryFields },
  option: NetworkOption | undefined,
): Promise<OpenExchange> {
  const { name, config } = server;
  const given = (typeof option === 'function' ? option({ name, url: config.url }) : option) ?? {};
  const socket = parseLocalSocket(config.url);
  if (socket !== undefined) return (clock) => createKeepAliveExchange(clock, { socketPath: socket.path });
  const { fetch, dispatcher } = given;
  const isOfEntry = [config.proxy, config.ca, config.cert, config.key].some((field) => field !== undefined);
  if (fetch !== undefined && !isOfEntry) return () => createFetchExchange(fetch);
  if (dispatcher !== undefined && !isOfEntry) return () => createDispatcherExchange(dispatcher);
  const connections: Connections = {
    proxyFor: proxyChoice(config.proxy ?? given.proxy),
    secureContext: await certificates(config, given),
  };
  return (clock) => createKeepAliveExchange(clock, connections);
}

function proxyChoice(proxy: string | false | undefined): NonNullable<Connections['proxyFor']> {
  if (proxy === undefined) return (url) => proxyOfEnvironment(url, process.env);
  if (proxy === false) return () => undefined;
  const named = parseProxy(proxy, "'proxy'");
  return () => named;
}

async function certificates(
  config: EntryFields,
  given: NetworkOptions,
): Promise<Connections['secureContext']> {
  const authorities = [given.ca ?? [], config.ca ?? []].flat();
  const client = config.cert === undefined && config.key === undefined ? given : config;
  if (client.key !== undefined && client.cert === undefined) throw unusable("'key' needs 'cert'.");
  if (authorities.length === 0 && client.cert === undefined) return undefined;
  const [extra, cert, key] = await Promise.all([
    Promise.all(authorities.map((text) => readAuthorities(text))),
    client.cert === undefined ? undefined : readPem('cert', client.cert),
    client.key === undefined ? undefined : readPem('key', client.key),
  ]);
  const ca = extra.length === 0 ? undefined : [...(await defaultAuthorities()), ...extra];
  const shared = makeContext("'ca'", { ca });
  const own =
    cert === undefined
      ? shared
      : makeContext("'cert' and 'key'", {
          ca,
          cert,
          key: key ?? cert,
          ...(client === given && given.passphrase !== undefined && { passphrase: given.passphrase }),
        });
  const { origin } = new URL(config.url);
  return (url) => (url.origin === origin ? own : shared);
}

function makeContext(fields: string, options: SecureContextOptions): SecureContext {
  try {
    return createSecureContext(options);
  } catch (error) {
    throw unusable(`${fields} cannot be used (${errorCode(error)}).`, error);
  }
}

async function readAuthorities(text: string): Promise<string> {
  const pem = await readPem('ca', text);
  try {
    void new X509Certificate(pem);
  } catch (error) {
    throw unusable(`${named('ca', text)} contains no PEM certificate.`, error);
  }
  return pem;
}

const isPem = (text: string): boolean => text.includes('-----BEGIN ');

async function readPem(field: string, text: string): Promise<string> {
  if (isPem(text)) return text;
  try {
    return await readFile(text, 'utf8');
  } catch (error) {
    throw unusable(`${named(field, text)} cannot be read (${errorCode(error)}).`, error);
  }
}

function named(field: string, text: string): string {
  return isPem(text) ? `The text of '${field}'` : `The '${field}' file ${text}`;
}

/** `ca` of a TLS connection replaces what Node trusts, `NODE_EXTRA_CA_CERTS` included. */
async function defaultAuthorities(): Promise<readonly string[]> {
  // Node 22.15 and later.
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => readonly string[] };
  if (getCACertificates !== undefined) return getCACertificates('default');
  const file = process.env['NODE_EXTRA_CA_CERTS'];
  const extra = file === undefined ? '' : await readFile(file, 'utf8').catch(() => '');
  return isPem(extra) ? [...rootCertificates, extra] : rootCertificates;
}

function unusable(message: string, cause?: unknown): TransportError {
  return new TransportError({ code: 'config-invalid', message }, { written: false, cause });
}

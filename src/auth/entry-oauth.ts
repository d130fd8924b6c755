/** The sign-in settings of an entry, which replace the options of the host. Pure. */
import type { EntryOAuth } from '../config/entry/server-config.js';
import { isLoopback } from '../text/host-reach.js';
import type { AuthOptions, OAuthClient } from './auth-options.js';
import { parseUrl } from '../text/parse-url.js';

/** The options of one account. */
export interface AccountOptions extends AuthOptions {
  /** The name that entries of the same address give to it. Default: none. */
  readonly account?: string;
  /** Scopes to request, whatever the server names. */
  readonly pinnedScope?: string;
  /** The address on this machine to which the browser is redirected, if the client is registered for one. */
  readonly loopback?: LoopbackPlace;
  /** The endpoints of the authorization server, in place of the ones that the server names. */
  readonly endpoints?: NamedEndpoints;
}

export interface LoopbackPlace {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly path: string;
}

export type NamedEndpoints =
  { readonly metadataUrl: string } | { readonly authorizationUrl: string; readonly tokenUrl: string };

/** `client` is the client of the host, if the entry names none. */
export function withEntry(
  options: AuthOptions,
  oauth: EntryOAuth | undefined,
  client: OAuthClient | undefined,
): AccountOptions {
  const registered = client?.redirectUrl;
  if (oauth === undefined && registered === undefined) return options;
  const { scope, account, redirectUrl = registered, ...others } = oauth ?? {};

  const { redirectUrl: hostRedirectUrl, ...ofHost } = options;
  const loopback = loopbackOf({ ...others, redirectUrl });
  const elsewhere = loopback === undefined ? (redirectUrl ?? hostRedirectUrl) : undefined;
  const endpoints = endpointsOf(others);
  return {
    ...ofHost,
    ...(account !== undefined && { account }),
    ...(elsewhere !== undefined && { redirectUrl: elsewhere }),
    ...(loopback !== undefined && { loopback }),
    ...(endpoints !== undefined && { endpoints }),
    ...(scope !== undefined && scope !== '' && { pinnedScope: scope }),
  };
}

/** The callback address that other hosts register for a port. */
const CALLBACK = { host: 'localhost', path: '/callback' } as const;

function loopbackOf({
  callbackPort: port,
  redirectUrl,
}: Pick<EntryOAuth, 'callbackPort'> & { readonly redirectUrl: string | undefined }):
  LoopbackPlace | undefined {
  if (redirectUrl === undefined) return port === undefined ? undefined : { ...CALLBACK, port };
  const url = parseUrl(redirectUrl);
  if (url?.protocol !== 'http:' || !isLoopback(url.hostname)) return undefined;
  return { host: url.hostname, port: url.port === '' ? (port ?? 0) : Number(url.port), path: url.pathname };
}

function endpointsOf({ metadataUrl, authorizationUrl, tokenUrl }: EntryOAuth): NamedEndpoints | undefined {
  if (metadataUrl !== undefined) return { metadataUrl };
  if (authorizationUrl === undefined || tokenUrl === undefined) return undefined;
  return { authorizationUrl, tokenUrl };
}

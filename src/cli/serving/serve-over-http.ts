/** `troupe serve --http`: who has access, where it listens, and the metrics beside it. */
import type { Gateway } from '../../gateway/gateway.js';
import type { ProtectedResource } from '../../gateway/http/http-oauth.js';
import type { HttpService } from '../../gateway/http/serve-http.js';
import type { ServeHttpOptions } from '../../gateway/http/serve-http-options.js';
import type { Logger } from '../../ports.js';
import { userStore } from '../../config/files/user-store.js';
import { messageOf } from '../../text/error-message.js';
import { UsageError } from '../exit.js';
import type { Terminal } from '../output/terminal.js';
import { opened } from '../taken-port.js';
import { gatewayToken } from '../gateway-token.js';
import type { ServeFlags } from './serve-flags.js';

const TOKEN_VARIABLE = 'TROUPE_SERVE_TOKEN';

/** Prints the address for clients, and what they must send. */
export async function serveOverHttp(
  gateway: Gateway,
  flags: ServeFlags,
  terminal: Terminal,
  common: { readonly logger: Logger; readonly gracePeriodMs: number },
): Promise<Pick<HttpService, 'close' | 'drain'>> {
  const { serveHttp } = await import('../../gateway/http/serve-http.js');
  const access = await accessOf(flags, common.logger);
  const options = { ...common, ...(await httpOptions(flags)), ...access.options };
  const service = await opened(serveHttp(gateway, options));
  const metrics = await openMetrics(gateway, flags, service).catch(async (error: unknown) => {
    await service.close({ gracePeriodMs: 0 });
    throw error;
  });
  const { tokenFile } = access;
  if (flags.json)
    terminal.printJson('serve', {
      url: service.url,
      ...(tokenFile !== undefined && { tokenFile }),
      ...(metrics !== undefined && { metricsUrl: metrics.url }),
    });
  else terminal.print(service.url);
  if (metrics !== undefined) common.logger.info('Prometheus can read metrics.', { url: metrics.url });
  noteAccess(access, flags, terminal, common.logger);
  return {
    drain: () => service.drain(),
    close: async (drain) => {
      await service.close(drain);
      await metrics?.close();
    },
  };
}

async function openMetrics(gateway: Gateway, { metrics }: ServeFlags, service: HttpService) {
  if (metrics === undefined) return undefined;
  const { serveMetrics } = await import('../../gateway/metrics/serve-metrics.js');
  return opened(serveMetrics(gateway, { ...metrics, service }));
}

interface Access {
  readonly options: Pick<ServeHttpOptions, 'token'>;
  /** The file that keeps a generated token. */
  readonly tokenFile?: string;
  /** The header that clients must send, if the token was made here. */
  readonly header?: string;
}

/** A log in JSON is kept and searched by others, so it has no token. */
function noteAccess(
  { header, tokenFile: file }: Access,
  flags: ServeFlags,
  terminal: Terminal,
  logger: Logger,
): void {
  if (header === undefined) return;
  if (flags.logFormat === 'json') logger.info('Clients must send the token in this file.', { file });
  else terminal.note(`Clients must send this header; the token is kept in ${file}:\n${header}`);
}

/** Who has access. A generated token is printed once and is in no log. */
async function accessOf(flags: ServeFlags, logger: Logger): Promise<Access> {
  const token = chosenToken(flags);
  if (token !== undefined) return { options: { token } };
  if (flags.oauthIssuer !== undefined) return { options: {} };
  if (flags.token === false) {
    const ignored = process.env[TOKEN_VARIABLE] ? ` ${TOKEN_VARIABLE} is ignored.` : '';
    logger.warn(
      `Without a token, every user and every program of this computer may use all servers.${ignored}`,
    );
    return { options: {} };
  }
  const { token: kept, file } = await userStore('log')()
    .then(gatewayToken)
    .catch((error: unknown) => {
      throw new UsageError(
        `The token for clients cannot be kept: ${messageOf(error)}. Give one in ${TOKEN_VARIABLE}, or use --no-token`,
      );
    });
  return { options: { token: kept }, tokenFile: file, header: `Authorization: Bearer ${kept}` };
}

async function httpOptions(flags: ServeFlags): Promise<ServeHttpOptions> {
  const { http, host, publicUrl, oauthIssuer: issuers, allowOrigin, allowHost, maxSessions, require } = flags;
  return {
    ...(typeof http === 'number' ? { port: http } : {}),
    ...(host === undefined ? {} : { host }),
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(allowOrigin === undefined ? {} : { allowedOrigins: allowOrigin }),
    ...(allowHost === undefined ? {} : { allowedHosts: allowHost }),
    ...(maxSessions === undefined ? {} : { maxHttpSessions: maxSessions }),
    ...(require === undefined ? {} : { requiredServers: require }),
    ...(issuers === undefined ? {} : { oauth: { issuers, verifyToken: await verifier(issuers) } }),
  };
}

async function verifier(issuers: readonly string[]): Promise<ProtectedResource['verifyToken']> {
  const { createJwtVerifier } = await import('../../gateway/http/http-jwt.js');
  return createJwtVerifier(issuers);
}

function chosenToken({ token }: ServeFlags): string | undefined {
  return token === false ? undefined : (token ?? (process.env[TOKEN_VARIABLE] || undefined));
}

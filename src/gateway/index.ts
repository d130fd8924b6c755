/**
 * The gateway: all servers of a troupe as one MCP server.
 */
export { createGateway } from './gateway.js';
export type { Answers } from './upstream/client-capabilities.js';

export type { ConnectOptions, Gateway, GatewayEvent, GatewaySession, RequestTerms } from './gateway.js';

export type { GatewayOptions } from './gateway-options.js';

export type { RequestHeaders } from '../transports/session-transport.js';
export { createJwtVerifier, type JwtVerifierOptions } from './http/http-jwt.js';
export { serveHttp } from './http/serve-http.js';
export { serveMetrics, type MetricsService, type ServeMetricsOptions } from './metrics/serve-metrics.js';
export { serveStdio } from './stdio/serve-stdio.js';
export type { MissingServer, Readiness } from './readiness.js';
export type { DrainOptions } from './drain.js';

export type { EventLogLimits } from './http/http-event-log.js';

export type { ProtectedResource, VerifiedToken } from './http/http-oauth.js';

export type { HttpService } from './http/serve-http.js';

export type { ServeHttpOptions } from './http/serve-http-options.js';

export type { ServeStdioOptions, StdioService } from './stdio/serve-stdio.js';
export type { Offer, OfferMode, OfferOptions } from '../search/offer.js';

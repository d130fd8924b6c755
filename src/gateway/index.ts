/**
 * The gateway: all servers of a troupe as one MCP server.
 */
export { createGateway } from './gateway.js';
export type { Answers } from './answers.js';
export type { ConnectOptions, Gateway, GatewayEvent, GatewaySession } from './gateway.js';
export type { GatewayOptions } from './gateway-options.js';
export { createJwtVerifier } from './http-jwt.js';
export { serveHttp } from './serve-http.js';
export { serveStdio } from './serve-stdio.js';
export type { DrainOptions } from './drain.js';
export type { EventLogLimits } from './http-event-log.js';
export type { ProtectedResource, VerifiedToken } from './http-oauth.js';
export type { HttpService } from './serve-http.js';
export type { ServeHttpOptions } from './serve-http-options.js';
export type { ServeStdioOptions, StdioService } from './serve-stdio.js';

/**
 * Expanded entries on their way from `resolveConfig` to `openTransport`, by connection. They hold secrets: nothing
 * here is ever told, and each attempt replaces the last.
 */
import type { ServerConfig } from '../options.js';

export type LaunchPlans = Map<string, ServerConfig>;

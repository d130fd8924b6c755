/** Decides how the requests to each server are sent. The code that decides is loaded with the first remote server. */
import type { HttpServerConfig } from '../config/entry/server-config.js';
import type { OpenExchange } from './http/http-session.js';
import type { NetworkOption } from './http/network-options.js';

/** How the requests to a server are sent, by the option of the host, the entry and the environment. */
export type NetworkSource = (name: string, config: HttpServerConfig) => Promise<OpenExchange>;

export function createNetworkSource(option: NetworkOption | undefined): NetworkSource {
  return async (name, config) => {
    const { openNetwork } = await import('./http/network.js');
    return openNetwork({ name, config }, option);
  };
}

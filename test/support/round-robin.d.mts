export interface RoundRobin {
  readonly url: URL;
  ports: readonly number[];
  close(): Promise<void>;
}

/** `host` is the name under which clients know the proxy. */
export function startRoundRobin(host: string): Promise<RoundRobin>;

/** A server for an entry of this process. */
export interface DroppingServer {
  connect(transport: never): Promise<void>;
  /** Ends its present sessions. */
  drop(): Promise<void>;
}

export function inProcessServer(era: 'old' | 'new' | 'both'): DroppingServer;

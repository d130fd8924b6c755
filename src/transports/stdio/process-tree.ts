/** A program that was started, with everything it started. */
export interface ProcessTree {
  /** Whether the process that was spawned still runs. */
  readonly leaderAlive: boolean;
  /** Remembers the processes of the tree, while they can still be found. */
  takeStock(): void;
  /** Whether anything of the tree is alive. Once false it stays so. */
  isAlive(): boolean;
  /** Asks the whole tree to end, or ends it by force. May take effect after it returns, and never blocks. */
  signal(signal: 'SIGTERM' | 'SIGKILL'): void;
  /** Ends the whole tree by force before it returns: for a host that exits. */
  kill(): void;
}

export interface Load {
  readonly url: string;
  readonly sessions: number;
  readonly servers: number;
  readonly seconds?: number;
  readonly callsInAll?: number;
  readonly asking?: number;
}
export declare function loadSessions(
  load: Load,
): Promise<{ readonly calls: number; readonly errors: readonly string[]; readonly ms: readonly number[] }>;

/** A row of the status, and a failure, as a test needs them. */
import type { Failure } from '../../machines/policy/failure.js';
import type { ServerStatus } from '../../src/lifecycle/status.js';

export function makeStatus(fields: Partial<ServerStatus> = {}): ServerStatus {
  return {
    name: 'files',
    state: 'ready',
    substate: '',
    reason: null,
    source: 'team.mcp.json',
    transport: 'stdio',
    toolCount: 0,
    resourceCount: 0,
    promptCount: 0,
    serverInfo: null,
    capabilities: null,
    protocolVersion: null,
    instructions: null,
    pid: null,
    url: null,
    generation: 1,
    attempt: 1,
    maxAttempts: 5,
    nextAttemptAt: null,
    connectedAt: null,
    lastExit: null,
    stderrTail: [],
    error: null,
    outdated: null,
    trustRequest: null,
    authUrl: null,
    timings: {
      configuringMs: null,
      queuedMs: null,
      launchingMs: null,
      handshakingMs: null,
      listingMs: null,
    },
    ...fields,
  };
}

export function makeFailure(fields: Partial<Failure> = {}): Failure {
  return {
    code: 'process-exited',
    message: 'The server exited with code 3.',
    phase: 'launch',
    at: 0,
    ...fields,
  };
}

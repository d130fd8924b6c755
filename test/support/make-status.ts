/** Status rows and failures for tests. */
import type { AnyStateMachine, StateValue } from 'xstate';
import { connectionMachine } from '../../machines/connection/connection.machine.js';
import type { Failure } from '../../machines/policy/failure.js';
import { publicState } from '../../machines/connection/public-state.js';
import type { PublicState } from '../../machines/connection/connection.states.js';
import type { ServerStatus } from '../../src/lifecycle/status.js';

type Columns = Partial<Omit<ServerStatus, keyof PublicState>>;

const CHART: AnyStateMachine = connectionMachine;

/** The status in a state of the chart. The path may stop at any level; the initial states below it are entered. */
export function makeStatus(columns: Columns = {}, state: StateValue = 'ready'): ServerStatus {
  return {
    server: 'files',
    ...publicState(CHART.resolveState({ value: state, context: {} }).value),
    reason: null,
    source: 'team.mcp.json',
    transport: 'stdio',
    toolCount: 0,
    toolsLeftOut: [],
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
    ...columns,
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

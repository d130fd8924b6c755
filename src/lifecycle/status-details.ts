/**
 * What a status shows of a connection's sessions in addition to its state: a pure summary of the events that its chart has
 * emitted. The runtime and a replay compute it by the same function. Runs in a browser.
 */
import type {
  ConnectionEmitted,
  ServerIdentity,
  TransportKind,
} from '../../machines/connection/connection.events.js';
import type { Failure, ProcessExit } from '../../machines/policy/failure.js';

/** Milliseconds spent in each part of the latest attempt; null if the attempt has not reached it. */
export interface PhaseTimings {
  /** Reading the entry: trust, variables, secrets. */
  readonly configuringMs: number | null;
  /** Waiting for a free place to start. */
  readonly queuedMs: number | null;
  /** Starting the process, or opening the HTTP session. */
  readonly launchingMs: number | null;
  /** `initialize` and its answer. */
  readonly handshakingMs: number | null;
  /** Reading the first list of tools. */
  readonly listingMs: number | null;
}

/** What is known about one session, or about the attempt to open it. */
export interface SessionDetails {
  /** How the server is reached; null until a transport is open. */
  readonly transport: TransportKind | null;
  /** Process id of the server; null for a remote or in-process server. */
  readonly pid: number | null;
  /** Address of a remote server without credentials and query; null for any other server. */
  readonly url: string | null;
  /** What the server answered to `initialize`; null until the handshake is complete. */
  readonly server: ServerIdentity | null;
  /** Duration of each step of the attempt, in milliseconds. */
  readonly timings: PhaseTimings;
}

/** What is known about a connection beyond its state. */
export interface StatusDetails extends SessionDetails {
  /** Hash of the list of tools; null until there is a list. */
  readonly catalogHash: string | null;
  /** Number of the server's tools, after the entry's filters. */
  readonly tools: number;
  /** Milliseconds since the epoch; null while no session is in use. */
  readonly connectedAt: number | null;
  /** Milliseconds since the epoch; null if no attempt has been planned. */
  readonly nextAttemptAt: number | null;
  /** How the last process ended; null if none has ended. */
  readonly lastExit: ProcessExit | null;
  /** Why the session in use still belongs to the former entry; null if it does not. */
  readonly outdated: Failure | null;
  /** The session that is being opened to replace the one in use; null if there is none. */
  readonly successor: SessionDetails | null;
}

const NO_TIMINGS: PhaseTimings = {
  configuringMs: null,
  queuedMs: null,
  launchingMs: null,
  handshakingMs: null,
  listingMs: null,
};

const NO_SESSION: SessionDetails = {
  transport: null,
  pid: null,
  url: null,
  server: null,
  timings: NO_TIMINGS,
};

export const NO_DETAILS: StatusDetails = {
  ...NO_SESSION,
  catalogHash: null,
  tools: 0,
  connectedAt: null,
  nextAttemptAt: null,
  lastExit: null,
  outdated: null,
  successor: null,
};

/** The details after that event; the same object if it changes nothing. */
export function detailsAfter(details: StatusDetails, event: ConnectionEmitted): StatusDetails {
  switch (event.type) {
    case 'attempting': {
      const timings = withTimes(NO_TIMINGS, { configuringMs: event.configuringMs });
      return details.connectedAt === null
        ? { ...details, timings, nextAttemptAt: null, outdated: null }
        : { ...details, outdated: null, successor: { ...NO_SESSION, timings } };
    }
    case 'opened': {
      const { transport, pid, url, queuedMs, launchingMs } = event;
      return ofSession(details, ({ timings }) => ({
        transport,
        pid,
        url,
        timings: withTimes(timings, { queuedMs, launchingMs }),
      }));
    }
    case 'initialized': {
      const { server, handshakingMs } = event;
      return ofSession(details, ({ timings }) => ({
        server,
        timings: withTimes(timings, { handshakingMs }),
      }));
    }
    case 'listed':
      return ofSession(details, ({ timings }) => ({
        timings: withTimes(timings, { listingMs: event.listingMs }),
      }));
    case 'adopted':
      return { ...details, catalogHash: event.hash, tools: event.tools };
    case 'ready':
      return { ...details, ...details.successor, successor: null, connectedAt: event.at };
    case 'lost':
      return ended(details, event.failure);
    case 'failed':
      return { ...ended(details, event.failure), nextAttemptAt: null };
    case 'released':
      return { ...details, pid: null, connectedAt: null, successor: null };
    case 'retrying':
    case 'retryingSlowly':
      return { ...details, nextAttemptAt: event.at + event.delayMs };
    case 'outdated':
      return { ...details, outdated: event.failure, successor: null };
    case 'trustRequired':
      return details;
  }
}

/** Written out: in Node 20, an object that begins with a spread and gets further fields has a layout of its own. */
function withTimes(before: PhaseTimings, changes: Partial<PhaseTimings>): PhaseTimings {
  const { configuringMs, queuedMs, launchingMs, handshakingMs, listingMs } = before;
  return {
    configuringMs: changes.configuringMs ?? configuringMs,
    queuedMs: changes.queuedMs ?? queuedMs,
    launchingMs: changes.launchingMs ?? launchingMs,
    handshakingMs: changes.handshakingMs ?? handshakingMs,
    listingMs: changes.listingMs ?? listingMs,
  };
}

/** While a session is in use, a new one is its successor. */
function ofSession(
  details: StatusDetails,
  changed: (session: SessionDetails) => Partial<SessionDetails>,
): StatusDetails {
  return details.successor === null
    ? { ...details, ...changed(details) }
    : { ...details, successor: { ...details.successor, ...changed(details.successor) } };
}

function ended(details: StatusDetails, { exit }: Failure): StatusDetails {
  return {
    ...details,
    pid: null,
    connectedAt: null,
    successor: null,
    lastExit: exit ?? details.lastExit,
  };
}

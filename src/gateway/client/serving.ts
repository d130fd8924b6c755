/** The beginning of service for a client: from the view that it has to the handler of its requests. */
import type { Implementation, LoggingLevel } from '../../mcp/session.js';
import { abortable } from '../../async/abort.js';
import { settlesWithin } from '../../async/timers.js';
import type { Offer } from '../../search/offer.js';
import type { Clock } from '../../ports.js';
import type { ClientLock } from '../upstream/client-lock.js';
import type { ServerView } from '../upstream/server-view.js';
import { SharedSubscriptions } from '../upstream/shared-preferences.js';
import type { ClientCatalog } from './client-catalog.js';
import type { AskedClient } from './client-request.js';
import type { ClientTelemetry } from './client-telemetry.js';
import { ClientRequests } from './client-requests.js';
import { whyNotAll } from './server-outcomes.js';
import { Subscriptions } from './subscriptions.js';

/** Maximum time that the first answer waits for the servers' instructions, milliseconds. */
const INSTRUCTIONS_MS = 1_000;

/** The view and the connections of a client. */
export interface Opened {
  readonly view: ServerView;
  readonly offering: ClientCatalog;
  /** The lock of a server; undefined if it takes any number of requests at the same time. */
  readonly turnsOf: (server: string) => ClientLock | undefined;
  /** Sets the lowest level of log messages from the visible servers. */
  readonly setLevel: (level: LoggingLevel) => Promise<void>;
  /** The client's roots have changed. */
  readonly rootsChanged: () => Promise<void>;
  /** Ends the parts that belong to this client alone. Never rejects. */
  readonly close: () => Promise<void>;
}

/** What is the same for all clients of a gateway. */
export interface ClientSettings {
  readonly clock: Clock;
  /** Undefined: requests are not reported. */
  readonly telemetry: ClientTelemetry | undefined;
  readonly serverInfo: Implementation;
  /** Whether a client with this `_meta` is the gateway itself. */
  readonly isSelf: (meta: unknown) => boolean;
  /** The subscriptions over shared connections. */
  readonly subscriptions: SharedSubscriptions;
  readonly hasAdminTools: boolean;
  /** Which tools a client is offered at once. Undefined: all. */
  readonly offer: Offer | undefined;
  readonly isFailClosed: boolean;
  /** The first answer waits for the start of the servers, however long that takes. */
  readonly isStartAwaited: boolean;
  readonly listGateMs: number;
  /** Maximum time for the client to answer, milliseconds; 0 = no limit. */
  readonly questionTimeoutMs: number;
  /** The state that a client brings back with its answers: a new one each time. */
  readonly newState: () => string;
  /** Maximum number of list entries in one answer. */
  readonly pageSize: number;
}

export interface Serving extends Opened {
  readonly requests: ClientRequests;
  /** The subscriptions of the client. */
  readonly subscriptions: Subscriptions;
  /** Further subscriptions over the same connections. */
  readonly furtherSubscriptions: () => Subscriptions;
}

export interface ServedClient {
  readonly client: AskedClient;
  readonly opening: Promise<Opened>;
  /** The instructions of the server that the client got with the first answer. */
  readonly instructed: (server: string) => string | undefined;
  /** The first answer to the client holds the instructions of the servers. */
  readonly isGreeted: boolean;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
}

/** Rejects with an `RpcError` if there is no room, or if not every server works and all are needed. */
export async function beginServing(
  settings: ClientSettings,
  { client, opening, instructed, isGreeted, signal }: ServedClient,
): Promise<Serving> {
  const opened = await opening;
  try {
    await abortable(whenStarted(settings, opened.view, { isGreeted, signal }), signal);
    const why = settings.isFailClosed ? whyNotAll(opened.view.statuses) : undefined;
    if (why !== undefined) throw why;
  } catch (error) {
    await opened.close();
    throw error;
  }
  const { view, offering, turnsOf } = opened;
  const own = new SharedSubscriptions();
  const furtherSubscriptions = (): Subscriptions =>
    new Subscriptions({
      view,
      subscribersOf: (server) => (view.isOwn(server) ? own : settings.subscriptions),
      clock: settings.clock,
    });
  const subscriptions = furtherSubscriptions();
  const requests = new ClientRequests({
    ...settings,
    client,
    view,
    offering,
    subscriptions,
    turnsOf,
    instructed,
  });
  return { ...opened, requests, subscriptions, furtherSubscriptions };
}

/** By default, a slow server is not waited for: clients are notified when the lists change. */
async function whenStarted(
  { clock, isFailClosed, isStartAwaited }: ClientSettings,
  view: ServerView,
  { isGreeted, signal }: Pick<ServedClient, 'isGreeted' | 'signal'>,
): Promise<void> {
  if (isFailClosed) await view.whenTried(signal);
  else if (isStartAwaited) await view.whenToolsKnown();
  else if (isGreeted) await settlesWithin(clock, INSTRUCTIONS_MS, view.whenToolsKnown());
}

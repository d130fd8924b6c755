/**
 * What makes each event of the connection chart happen in a real connection: an order to a scripted server, a command of the
 * host, or time. An event without a cause cannot be made to happen from outside.
 */
import type { EventObject } from 'xstate';
import type { ConnectionEvent } from '../../../machines/connection/connection.events.js';
import { classify, type Failure } from '../../../machines/policy/failure.js';
import { METHOD_NOT_FOUND } from '../../protocol/protocol-client.js';
import { tool } from '../ordinary-answers.js';
import type { HttpReply, Params, ScriptedOrder, ServerScript } from '../server-script.js';

/** How the server of a walk is reached: streamable HTTP, the older HTTP+SSE, a child process, or this process. */
export type Reach = 'http' | 'sse' | 'stdio' | 'in-process';

/**
 * Who makes an event of a path happen: the server, the host and its user, the passing of time, or Troupe itself, which grants
 * a connection its start.
 */
export type CausedBy = 'server' | 'host' | 'clock' | 'troupe';

export interface Cause {
  readonly by: CausedBy;
  /** What the server answers from now on, by method. */
  readonly on?: ServerScript['on'];
  /** What else differs in its script. */
  readonly script?: ServerScript;
  /** What it does then. */
  readonly order?: ScriptedOrder;
  /** Number of calls that the host then makes. */
  readonly calls?: number;
  /** The limit of the effect is over before anything else happens, as after a sleep of the machine. */
  readonly isExpired?: true;
  /** The effect does not run: what it would read is not in the entry, or a person does it elsewhere. */
  readonly isGiven?: true;
}

const USUAL: Cause = { by: 'server' };
const SILENT = { fault: 'silent' } as const;
const BUSY = { error: { code: -32_000, message: 'busy' } };

const STATUS = {
  retry: 503,
  renew: 404,
  authorize: 401,
  permanent: 410,
} as const;

function refusing(verdict: keyof typeof STATUS): { readonly http: HttpReply } {
  const headers = verdict === 'authorize' ? { 'www-authenticate': 'Bearer' } : {};
  return { http: { status: STATUS[verdict], headers } };
}

const REFUSED_CALL: Cause = { by: 'server', on: { 'tools/call': refusing('authorize') }, calls: 1 };

const isRemote = (reach: Reach): boolean => reach === 'http' || reach === 'sse';

/** The cause of an event of a path, or undefined. */
export function causeOf(event: EventObject, slot: string | undefined, reach: Reach): Cause | undefined {
  if (slot === undefined) return causeOfFact(event as ConnectionEvent, reach);
  if ('error' in event) return causeOfFailure(slot, event.error as Failure, reach);
  return causeOfOutput(slot, (event as { output?: unknown }).output as Params);
}

function causeOfOutput(slot: string, output: Params): Cause {
  if (slot === 'authorize') return { by: 'host', isGiven: true };
  if (slot === 'resolveConfig' && output['kind'] !== 'resolved') return { by: 'host', isGiven: true };
  return USUAL;
}

function causeOfFailure(slot: string, failure: Failure, reach: Reach): Cause | undefined {
  const verdict = classify(failure);
  const mayRefuse = isRemote(reach);
  switch (slot) {
    case 'resolveConfig':
      return verdict === 'permanent' ? { by: 'host', isGiven: true } : undefined;
    case 'authorize':
      return { by: 'host', isGiven: true };
    case 'openTransport':
      return mayRefuse ? { by: 'server', on: { GET: refusing(verdict) } } : undefined;
    case 'handshake':
      if (failure.http !== undefined)
        return mayRefuse ? { by: 'server', on: { initialize: { http: failure.http } } } : undefined;
      if (verdict === 'retry') return { by: 'server', on: { initialize: BUSY, 'server/discover': BUSY } };
      if (verdict === 'permanent') return { by: 'server', script: { protocolVersion: '1999-01-01' } };
      return mayRefuse ? { by: 'server', on: { initialize: refusing(verdict) } } : undefined;
    case 'readTools':
      if (verdict === 'retry') return { by: 'server', on: { 'tools/list': BUSY } };
      return mayRefuse ? { by: 'server', on: { 'tools/list': refusing(verdict) } } : undefined;
    case 'subscribe': {
      const code = failure.rpcCode ?? -32_603;
      const message = code === METHOD_NOT_FOUND ? 'Method not found' : 'busy';
      return { by: 'server', on: { 'subscriptions/listen': { error: { code, message } } } };
    }
    case 'probe':
      if (verdict === 'retry') return { by: 'server', on: { ping: SILENT }, isExpired: true };
      // A refused ping is a sign of life. One without an answer is lost with its session if a call is refused meanwhile.
      if (verdict !== 'authorize' || !mayRefuse) return undefined;
      return { ...REFUSED_CALL, on: { ...REFUSED_CALL.on, ping: SILENT } };
    case 'adoptTools':
    case 'enrichCatalog':
      return undefined;
    case 'drainCalls':
      return { by: 'clock', on: { 'tools/call': SILENT }, isExpired: true };
    default:
      return { by: 'clock', on: { DELETE: SILENT }, isExpired: true };
  }
}

function causeOfFact(event: ConnectionEvent, reach: Reach): Cause | undefined {
  switch (event.type) {
    case 'session.lost': {
      const verdict = classify(event.failure);
      if (verdict === 'authorize' && isRemote(reach)) return REFUSED_CALL;
      const usual = reach === 'http' ? 'renew' : 'retry';
      return verdict === usual
        ? { by: 'server', order: { fault: 'crash' }, calls: reach === 'http' ? 1 : 0 }
        : undefined;
    }
    case 'session.unreachable':
      return reach === 'http' ? { by: 'server', order: { listening: false }, calls: event.count } : undefined;
    case 'catalog.listChanged':
      return { by: 'server', order: { tools: [tool('echo'), tool('another')] } };
    case 'catalog.extrasChanged':
      return {
        by: 'server',
        order: { send: { jsonrpc: '2.0', method: 'notifications/resources/list_changed' } },
      };
    case 'subscription.ended':
      return { by: 'server', order: { endStreams: true } };
    case 'slot.granted':
      return { by: 'troupe' };
    case 'session.stable':
    case 'session.idle':
    case 'session.quiet':
    case 'clock.jumped':
      return { by: 'clock' };
    default:
      return { by: event.type.startsWith('xstate.after.') ? 'clock' : 'host' };
  }
}

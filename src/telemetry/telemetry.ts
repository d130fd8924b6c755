/**
 * The port to a telemetry system. Troupe reports the requests of MCP that it sends and receives, the sessions, and what its
 * connections do; `mcp-troupe/opentelemetry` makes spans and metrics of them.
 *
 * V1. No argument, no result and no secret is reported: only names, versions, addresses without credentials, and codes.
 * V2. Requests and sessions are reported only while `isObserved` is true. A connection reads it once for each session, a gateway
 *     for each request.
 */
import type { JsonObject } from '../json/json-object.js';
import type { LifecycleEvent } from '../lifecycle/event.js';
import type { ServerStatus } from '../lifecycle/status.js';
import type { Subscribable } from '../lifecycle/stream.js';

/** How the messages of a session travel. */
export interface NetworkFacts {
  /** Absent if the server is an object of this process, or if that is unknown. */
  readonly transport?: 'pipe' | 'tcp';
  /** Absent without a network. */
  readonly protocol?: 'http';
  /** Name or IP address of the server's host; absent without a network. */
  readonly address?: string;
  /** Its port. */
  readonly port?: number;
}

/** What both a request and a session say about their session. */
export interface SessionFacts {
  /** Name of the server; absent if a client of the gateway is the other side. */
  readonly server?: string | undefined;
  /** The version that was agreed on; undefined before. */
  readonly protocolVersion?: string | undefined;
  /** How its messages travel. */
  readonly network: NetworkFacts;
}

/** One request of MCP, by names alone. */
export interface Operation extends SessionFacts {
  /** Such as `tools/call`. */
  readonly method: string;
  /** Of a tool or a prompt: its name, as it is sent. */
  readonly name?: string | undefined;
  /** Whether code of the host waits for it. The others are sent by the runtime itself, at any time. */
  readonly isAwaited: boolean;
  /** Of a tool call: its number in the events. */
  readonly call?: number | undefined;
}

/** How an operation or a session ended. */
export interface OperationEnd {
  /** JSON-RPC id of the request, if it had one. */
  readonly id?: string | number | undefined;
  /** Class of the error; undefined if there was none. */
  readonly error?: string | undefined;
  /** Code of a JSON-RPC error. */
  readonly rpcCode?: number | undefined;
}

/** An operation that has begun. */
export interface ObservedOperation {
  /** The trace context to send as fields of `_meta`; undefined if there is none. */
  readonly meta: JsonObject | undefined;
  /**
   * Runs a function as a part of the operation, so that what it sends belongs to the same trace.
   *
   * @typeParam T What it returns.
   * @param run Called once, at once.
   */
  within<T>(run: () => T): T;
  /**
   * Reports the end. Called once.
   *
   * @param end How it ended.
   */
  end(end: OperationEnd): void;
}

/** What telemetry can read of a troupe. */
export interface ObservedTroupe {
  /** Its events. */
  readonly events$: Subscribable<LifecycleEvent>;
  /** One row for each server; read at any time. */
  readonly status: readonly ServerStatus[];
}

/** A telemetry system. Made by `openTelemetry` of `mcp-troupe/opentelemetry`. */
export interface Telemetry {
  /** Whether anything that is reported is used. */
  readonly isObserved: boolean;
  /**
   * A request is about to be sent.
   *
   * @param operation The request.
   */
  sent(operation: Operation): ObservedOperation;
  /**
   * A request was received.
   *
   * @param operation The request.
   * @param meta Its `_meta`, which may hold the trace context of the sender.
   * @param cause The request of ours that made the other side send it, if that is known.
   */
  received(operation: Operation, meta: unknown, cause?: ObservedOperation): ObservedOperation;
  /**
   * A session has ended.
   *
   * @param side Which side of it this process was.
   * @param facts The session.
   * @param durationMs How long it lasted, in milliseconds.
   * @param error Class of the error that ended it; undefined if none did.
   */
  sessionEnded(
    side: 'client' | 'server',
    facts: SessionFacts,
    durationMs: number,
    error: string | undefined,
  ): void;
  /**
   * Follows the connections of a troupe. Returns the function that ends that.
   *
   * @param troupe The troupe.
   */
  follow(troupe: ObservedTroupe): () => void;
}

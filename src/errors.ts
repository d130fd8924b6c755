/**
 * What the API throws. Recognise an error by its class or its `code`, never by its message.
 */
import type { Failure } from '../machines/policy/failure.js';
import type { HeldReason } from '../machines/policy/review.js';
import type { ConnectionState, RejectionReason } from './lifecycle/event.js';
import { problemsInWords } from './problems-in-words.js';

export interface TroupeErrorOptions {
  readonly server?: string | undefined;
  readonly cause?: unknown;
}

/** Base of every error the API throws. */
export abstract class TroupeError extends Error {
  abstract readonly code: string;
  /** Name of the server it is about, where it is about one. */
  readonly server: string | undefined;

  constructor(message: string, options: TroupeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.server = options.server;
  }
}

/** One thing wrong with a configuration, with its place. Lines and columns start at 1. */
export interface ConfigProblem {
  /** `error`: the thing named is not used. `warning`: it is used, but perhaps not as meant. Default `error`. */
  readonly severity?: 'error' | 'warning';
  readonly source: string;
  readonly server?: string;
  readonly field?: string;
  readonly line?: number;
  readonly column?: number;
  readonly message: string;
}

/** A configuration that cannot be used, or an option that makes no sense. */
export class ConfigError extends TroupeError {
  readonly code = 'CONFIG';
  readonly problems: readonly ConfigProblem[];

  constructor(
    message: string,
    options: TroupeErrorOptions & { readonly problems?: readonly ConfigProblem[] } = {},
  ) {
    super(message, options);
    this.problems = options.problems ?? [];
  }
}

abstract class FailureError extends TroupeError {
  /** The whole record: exit code or HTTP status, hints, last stderr lines. */
  readonly failure: Failure;

  constructor(failure: Failure, options: TroupeErrorOptions = {}) {
    super(failure.message, options);
    this.failure = failure;
  }
}

/** The server could not be started or reached. */
export class LaunchError extends FailureError {
  readonly code = 'LAUNCH';
}

/** The server was reached, but `initialize` or the first list failed. */
export class HandshakeError extends FailureError {
  readonly code = 'HANDSHAKE';
}

/** The session ended, or the connection gave up after losing it. */
export class ConnectionLostError extends FailureError {
  readonly code = 'CONNECTION_LOST';
}

/** Credentials are missing or were refused (HTTP 401); a person or a token is needed. */
export class AuthRequiredError extends FailureError {
  readonly code = 'AUTH_REQUIRED';
}

/** An entry of a project file waits for approval, or was refused. */
export class TrustRequiredError extends TroupeError {
  readonly code = 'TRUST_REQUIRED';
}

/** No answer and no progress within the call's limit, or no answer within its total limit. The server was told to cancel. */
export class CallTimeoutError extends TroupeError {
  readonly code = 'CALL_TIMEOUT';
}

/** The caller aborted; its reason is the `cause`. */
export class CallAbortedError extends TroupeError {
  readonly code = 'CALL_ABORTED';
}

/**
 * The connection was lost after the request may have reached the server. Troupe repeats it only where that cannot act
 * twice (`retryCalls`), and then throws this where the repetition is lost as well.
 */
export class OutcomeUnknownError extends FailureError {
  readonly code = 'OUTCOME_UNKNOWN';
}

/** A command that the connection's state does not accept. Nothing has changed. */
export class InvalidTransitionError extends TroupeError {
  readonly code = 'INVALID_TRANSITION';
  readonly state: ConnectionState;
  readonly event: string;
  readonly reason: RejectionReason;
  readonly allowed: readonly string[];

  constructor(details: {
    readonly server: string;
    readonly state: ConnectionState;
    readonly event: string;
    readonly reason: RejectionReason;
    readonly allowed: readonly string[];
  }) {
    const allowed = details.allowed.length === 0 ? 'nothing' : details.allowed.join(', ');
    super(
      `'${details.event}' is not possible while '${details.server}' is ${details.state} (${details.reason}); allowed now: ${allowed}.`,
      { server: details.server },
    );
    this.state = details.state;
    this.event = details.event;
    this.reason = details.reason;
    this.allowed = details.allowed;
  }
}

/** The call was not sent: the server is not ready and did not become so in time. Safe to repeat. */
export class NotReadyError extends TroupeError {
  readonly code = 'NOT_READY';
}

/** No server offers a tool of that name, or none does any more: the message then tells when it went and why. */
export class UnknownToolError extends TroupeError {
  readonly code = 'UNKNOWN_TOOL';
  readonly tool: string;
  /** When the tool of that name went, milliseconds since the epoch; undefined where nobody remembers one. */
  readonly goneAt: number | undefined;

  constructor(
    tool: string,
    message: string,
    options: TroupeErrorOptions & { readonly goneAt?: number } = {},
  ) {
    super(message, options);
    this.tool = tool;
    this.goneAt = options.goneAt;
  }
}

/** One thing in the arguments of a call that the tool does not take. */
export interface ArgumentProblem {
  /** JSON Pointer (RFC 6901) to the argument; empty for all of them. */
  readonly path: string;
  /** What is wanted there: "must be of type integer", "is missing". Never what was given. */
  readonly message: string;
}

/** The arguments do not fit the tool's input schema. The call was not sent. */
export class InvalidArgumentsError extends TroupeError {
  readonly code = 'INVALID_ARGUMENTS';
  /** The server's own name for it. */
  readonly tool: string;
  /** All of them; the message tells the first five. */
  readonly problems: readonly ArgumentProblem[];

  constructor(tool: string, problems: readonly ArgumentProblem[], options: TroupeErrorOptions = {}) {
    const list = problemsInWords(problems, 'the whole');
    super(`'${tool}' was not called: its arguments do not fit its input schema: ${list}.`, options);
    this.tool = tool;
    this.problems = problems;
  }
}

/**
 * The tool is held back until somebody approves it, since it is other than what was approved (`review: 'hold-changes'`):
 * a call was not sent, or an approval was of another definition than the one that is held.
 */
export class ToolHeldError extends TroupeError {
  readonly code = 'TOOL_HELD';
  /** The server's own name for it. */
  readonly tool: string;
  readonly reason: HeldReason;
  /** What is other than approved. */
  readonly fields: readonly string[];
  /** What an approval of the tool as it is now is bound to. */
  readonly fingerprint: string;

  constructor(
    message: string,
    held: {
      readonly server: string;
      readonly tool: string;
      readonly reason: HeldReason;
      readonly fields: readonly string[];
      readonly fingerprint: string;
    },
  ) {
    super(message, { server: held.server });
    this.tool = held.tool;
    this.reason = held.reason;
    this.fields = held.fields;
    this.fingerprint = held.fingerprint;
  }
}

/**
 * What was asked for is not there, and nothing was sent: no server lists that prompt or resource, several servers list
 * the resource and none was named, or the server has not declared that it takes such requests.
 */
export class NotOfferedError extends TroupeError {
  readonly code = 'NOT_OFFERED';
}

/** The server answered with a JSON-RPC error; its code and data are kept. */
export class ServerError extends TroupeError {
  readonly code = 'SERVER_ERROR';
  readonly rpcCode: number;
  readonly data: unknown;

  constructor(
    rpcCode: number,
    message: string,
    options: TroupeErrorOptions & { readonly data?: unknown } = {},
  ) {
    super(message, options);
    this.rpcCode = rpcCode;
    this.data = options.data;
  }
}

/**
 * What the API throws. Recognise an error by its class or its `code`, never by its message. Longer than 300 lines because it
 * documents every error class with its fields.
 */
import type { Failure } from '../machines/policy/failure.js';
import type { HeldReason } from '../machines/policy/review.js';
import type { ConnectionState } from '../machines/connection/connection.states.js';
import type { TroupePhase } from '../machines/manager/manager.events.js';
import { problemsInWords } from './text/error-message.js';

/** Why a command was rejected. */
export type RejectionReason = 'unhandled' | 'guarded' | 'ignored' | 'stopped';

/** Which limit of a call was reached: the limit for silence (`idle`), or the limit for the whole call (`total`). */
export type TimeoutKind = 'idle' | 'total';

/** What every error may be made with. */
export interface TroupeErrorOptions {
  /** Name of the server, if the error is about one. */
  readonly server?: string | undefined;
  /** What was thrown below. */
  readonly cause?: unknown;
}

/** Base of every error the API throws. */
export abstract class TroupeError extends Error {
  /** Stable word for programs: one for each class. */
  abstract readonly code: string;
  /** Name of the server, if the error is about one. */
  readonly server: string | undefined;

  /**
   * @param message What happened, then what to do, for a person.
   * @param options The server and the cause. Default: neither.
   */
  constructor(message: string, options: TroupeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.server = options.server;
  }
}

/**
 * Which problem of a configuration: one word for each, kept stable for programs. The comment of each code says what it means
 * and, after `Remedy:`, what to do.
 */
export type ConfigProblemCode =
  /** Only VS Code can run the command of this input, so the user is asked. Remedy: Nothing, or put the value into the entry. */
  | 'command-input'
  /** Two fields contradict each other or mean the same. Remedy: Keep one of them. */
  | 'conflicting-fields'
  /**
   * A value has another type than its field, and its meaning is clear, so it is converted. Remedy: Write it with the type
   * that the message names.
   */
  | 'converted-value'
  /**
   * The address contains a user name or a password, which would be shown and logged. Remedy: Use `headers` with
   * `Authorization`.
   */
  | 'credentials-in-url'
  /**
   * The settings of Claude Code disable this server of the project. Remedy: Remove its name from `disabledMcpjsonServers`
   * to use it.
   */
  | 'disabled-by-settings'
  /** The file contains nothing. Remedy: Add the servers, or remove the file from the configuration. */
  | 'empty-file'
  /** A text or a list that needs content is empty. Remedy: Fill it, or leave the field out. */
  | 'empty-value'
  /** A changed entry does not work, and the session of the former entry continues. Remedy: Correct the entry. */
  | 'entry-outdated'
  /** There is no file at the given path. Remedy: Correct the path or create the file. */
  | 'file-not-found'
  /**
   * The file exists and cannot be read as configuration: permissions, its kind, its size or its encoding. Remedy: Do what
   * the message says.
   */
  | 'file-unreadable'
  /** The function `discover.filter` of the host threw, and the entry is left out. Remedy: Correct the function. */
  | 'filter-failed'
  /**
   * The header belongs to the connection or to the credentials of the client and is never passed on. Remedy: Remove it
   * from `forwardHeaders`.
   */
  | 'header-not-forwardable'
  /**
   * The `envFile` of a project sets variables that decide what runs, and they are ignored. Remedy: Set them in `env` of
   * the entry.
   */
  | 'ignored-variables'
  /** The field has no meaning for the transport of this server. Remedy: Remove the field, or correct `type`. */
  | 'inapplicable-field'
  /** A header value contains a line break or another character that HTTP does not allow. Remedy: Remove the character. */
  | 'invalid-header'
  /** The name of the server is empty, too long or contains characters that cannot be shown. Remedy: Rename the server. */
  | 'invalid-name'
  /** An option of the host cannot have this value. Remedy: Pass what the message names. */
  | 'invalid-option'
  /** A text does not have the required form. Remedy: Write it as the message says. */
  | 'invalid-text'
  /**
   * The address of the server is incomplete or of an unknown kind. Remedy: Write a complete address, such as
   * `https://example.com/mcp`.
   */
  | 'invalid-url'
  /**
   * An environment variable that names a folder of the user is ignored, because its path is relative. Remedy: Set it to an
   * absolute path.
   */
  | 'invalid-variable'
  /** A required field is missing. Remedy: Add the field that the message names. */
  | 'missing-field'
  /** The entry has neither a program nor an address, or not the one that its `type` needs. Remedy: Add `command` or `url`. */
  | 'missing-target'
  /** A server inside this process can only come from code. Remedy: Pass it as `servers` to `createTroupe`. */
  | 'needs-server-object'
  /** The file names no server. Remedy: Put the servers where the message says. */
  | 'no-servers'
  /** A number is below or above its limit. Remedy: Choose one within the limits. */
  | 'out-of-range'
  /**
   * An argument is relative to the home folder, because entries of the user start there. Remedy: Write
   * `${workspaceFolder}` for the working folder, or set `cwd`.
   */
  | 'relative-to-home'
  /** A name is written more than once, and the last one counts. Remedy: Remove or rename the others. */
  | 'repeated-name'
  /** The text is not valid JSON, TOML or YAML. Remedy: Correct it at the line and column of the problem. */
  | 'syntax-error'
  /** A small `timeout` is read as seconds. Remedy: Write `startTimeoutMs` and `callTimeoutMs` in milliseconds. */
  | 'timeout-in-seconds'
  /** The text is nested too deeply or has too many parts. Remedy: Simplify the file. */
  | 'too-complex'
  /** The files of a project have more servers than the limit, and the surplus is left out. Remedy: Remove servers. */
  | 'too-many-servers'
  /**
   * The store of trusted entries could not be read, so no entry in it counts as trusted. Remedy: Check the file or the
   * store that the message names.
   */
  | 'trust-store-unreadable'
  /**
   * A variable in this form is not expanded, and its text is passed on unchanged. Remedy: Write the form that the message
   * names, or nothing if the text is meant literally.
   */
  | 'unexpanded-variable'
  /** No field has this name. Remedy: Correct or remove it; the message suggests a name if one is close. */
  | 'unknown-field'
  /** The value is none of the allowed words. Remedy: Use one of the words that the message lists. */
  | 'unknown-value'
  /** The file has a single server without a name. Remedy: Wrap it as the message says. */
  | 'unnamed-server'
  /** Entries that only their own host can use are left out. Remedy: Nothing, or write an entry that Troupe can use. */
  | 'unsupported-entry'
  /**
   * The entry is not trusted, so another entry of its name is used, or its restrictions do not count. Remedy: Trust it
   * with `troupe trust NAME` if you meant it.
   */
  | 'untrusted-entry'
  /**
   * Values that the entry needs are missing or do not fit: of its variables, inputs or files. Remedy: Do what the message
   * says.
   */
  | 'unusable-entry'
  /**
   * A field that only other hosts understand is not used. Remedy: Remove it, or use the field of Troupe that does the
   * same.
   */
  | 'unused-field'
  /** A value has the wrong type, such as a number in place of a list. Remedy: Write what the message names. */
  | 'wrong-type';

/** One thing wrong with a configuration, with its place. Lines and columns start at 1. */
export interface ConfigProblem {
  /** Stable word for programs: what kind of problem it is. */
  readonly code: ConfigProblemCode;
  /** `error`: the thing named is not used. `warning`: it is used, but perhaps not as meant. Default `error`. */
  readonly severity?: 'error' | 'warning';
  /** The file, or `options`, that has the problem. */
  readonly source: string;
  /** Name of the server, if the problem is in an entry. */
  readonly server?: string;
  /** Path of the field within the entry, for instance `env.TOKEN`. */
  readonly field?: string;
  /** Line in the file, from 1. */
  readonly line?: number;
  /** Column in that line, from 1. */
  readonly column?: number;
  /** What is wrong, for a person. */
  readonly message: string;
}

/** A configuration that cannot be used, or an option that makes no sense. */
export class ConfigError extends TroupeError {
  readonly code = 'CONFIG_ERROR';
  /** Every problem that was found; empty if the error is about an option or a command. */
  readonly problems: readonly ConfigProblem[];

  /**
   * @param message What happened, then what to do, for a person.
   * @param options The server, the cause and the problems. Default: none of them.
   */
  constructor(
    message: string,
    options: TroupeErrorOptions & {
      /** Every problem that was found. Default: none. */
      readonly problems?: readonly ConfigProblem[];
    } = {},
  ) {
    super(message, options);
    this.problems = options.problems ?? [];
  }
}

abstract class FailureError extends TroupeError {
  /** The whole record: exit code or HTTP status, hints, last stderr lines. */
  readonly failure: Failure;

  /**
   * @param failure The whole record; its message becomes the message of the error.
   * @param options The server and the cause. Default: neither.
   */
  constructor(failure: Failure, options: TroupeErrorOptions = {}) {
    super(failure.message, options);
    this.failure = failure;
  }
}

/** The server could not be started or reached. */
export class LaunchError extends FailureError {
  readonly code = 'LAUNCH_FAILED';
}

/** The server was reached, but `initialize` or the first list failed. */
export class HandshakeError extends FailureError {
  readonly code = 'HANDSHAKE_FAILED';
}

/** The session ended, or the connection gave up after losing it. */
export class ConnectionLostError extends FailureError {
  readonly code = 'CONNECTION_LOST';
}

/** Credentials are missing or were refused (HTTP 401); a person or a token is needed. */
export class AuthRequiredError extends FailureError {
  readonly code = 'AUTH_REQUIRED';
}

/** An entry of a project file waits to be trusted, or was refused. */
export class TrustRequiredError extends TroupeError {
  readonly code = 'TRUST_REQUIRED';
}

/** No answer or progress within the call's limit, or no answer within its total limit. It was cancelled at the server. */
export class CallTimeoutError extends TroupeError {
  readonly code = 'CALL_TIMEOUT';
  /** Which limit was reached: `timeoutMs` (`idle`) or `totalTimeoutMs` (`total`). */
  readonly kind: TimeoutKind;
  /** The limit, in milliseconds. */
  readonly limitMs: number;
  /** Id of the JSON-RPC request. */
  readonly requestId: number | undefined;

  /**
   * @param message What timed out, for a person.
   * @param options The limit that was reached, and the server.
   */
  constructor(
    message: string,
    options: TroupeErrorOptions & {
      /** Which limit was reached. */
      readonly kind: TimeoutKind;
      /** The limit, in milliseconds. */
      readonly limitMs: number;
      /** Id of the JSON-RPC request. Default: unknown. */
      readonly requestId?: number | undefined;
    },
  ) {
    super(message, options);
    this.kind = options.kind;
    this.limitMs = options.limitMs;
    this.requestId = options.requestId;
  }
}

/** The caller aborted; its reason is the `cause`. */
export class CallAbortedError extends TroupeError {
  readonly code = 'CALL_ABORTED';
}

/**
 * The connection was lost after the request may have reached the server. Troupe repeats it only if that is safe
 * (`retryCalls`), and then throws this if the repetition is lost as well.
 */
export class OutcomeUnknownError extends FailureError {
  readonly code = 'OUTCOME_UNKNOWN';
  /** Id of the JSON-RPC request. */
  readonly requestId: number | undefined;

  /**
   * @param failure What is known about the loss.
   * @param options The server, the cause and the request. Default: none of them.
   */
  constructor(
    failure: Failure,
    options: TroupeErrorOptions & {
      /** Id of the JSON-RPC request. Default: unknown. */
      readonly requestId?: number | undefined;
    } = {},
  ) {
    super(failure, options);
    this.requestId = options.requestId;
  }
}

/** The connection, or the whole troupe if `server` is undefined, does not accept the command now. Nothing has changed. */
export class InvalidTransitionError extends TroupeError {
  readonly code = 'INVALID_TRANSITION';
  /** State of the connection, or phase of the troupe, when the command came. */
  readonly state: ConnectionState | TroupePhase;
  /** The command that was rejected, for instance `connection.start`. */
  readonly event: string;
  /** Why it was rejected. */
  readonly reason: RejectionReason;
  /** Commands that would have been accepted. */
  readonly allowed: readonly string[];

  /** @param details The command, and the state that rejected it; the message is built from them. */
  constructor(details: {
    /** Name of the server. Default: none; the command was for the whole troupe. */
    readonly server?: string;
    /** State of the connection, or phase of the troupe, when the command came. */
    readonly state: ConnectionState | TroupePhase;
    /** The command that was rejected, for instance `connection.start`. */
    readonly event: string;
    /** Why it was rejected. */
    readonly reason: RejectionReason;
    /** Commands that would have been accepted; may be empty. */
    readonly allowed: readonly string[];
  }) {
    const allowed = details.allowed.length === 0 ? 'nothing' : details.allowed.join(', ');
    const whose = details.server === undefined ? 'the troupe' : `'${details.server}'`;
    super(`'${details.event}' is not possible while ${whose} is ${details.state}; allowed now: ${allowed}.`, {
      server: details.server,
    });
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

/** No server offers a tool of that name. If one did before, the message says when and why it disappeared. */
export class UnknownToolError extends TroupeError {
  readonly code = 'UNKNOWN_TOOL';
  /** The name that was asked for. */
  readonly tool: string;
  /** When the tool of that name disappeared, milliseconds since the epoch; undefined if it is unknown. */
  readonly removedAt: number | undefined;
  /**
   * Names of servers that wait for trust, so that their tools are unknown. The tool may be one of theirs: trust the entry with
   * `troupe trust NAME` or `connection.trust()`, then call again.
   */
  readonly needsTrust: readonly string[];

  /**
   * @param tool The name that was asked for.
   * @param message What happened, for a person.
   * @param options The server, the cause and when the tool disappeared. Default: none of them.
   */
  constructor(
    tool: string,
    message: string,
    options: TroupeErrorOptions & {
      /** When the tool disappeared, milliseconds since the epoch. Default: unknown. */
      readonly removedAt?: number;
      /** Servers that wait for trust. Default: none. */
      readonly needsTrust?: readonly string[];
    } = {},
  ) {
    super(message, options);
    this.tool = tool;
    this.removedAt = options.removedAt;
    this.needsTrust = options.needsTrust ?? [];
  }
}

/** One problem with the arguments of a call. */
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
  /** All problems; the message lists the first five. */
  readonly problems: readonly ArgumentProblem[];

  /**
   * @param tool The server's own name for it.
   * @param problems At least one; the message lists the first five.
   * @param options The server and the cause. Default: neither.
   */
  constructor(tool: string, problems: readonly ArgumentProblem[], options: TroupeErrorOptions = {}) {
    const list = problemsInWords(problems, 'the whole');
    super(`'${tool}' was not called: its arguments do not fit its input schema: ${list}.`, options);
    this.tool = tool;
    this.problems = problems;
  }
}

/** A hook of the host has refused the call, or failed: see `hooks`. The call was not sent. `cause` is what the hook threw. */
export class CallRefusedError extends TroupeError {
  readonly code = 'CALL_REFUSED';
}

/**
 * The call was done, but a hook of the host failed, so its result is withheld: see `hooks`. To repeat the call may act
 * twice. `cause` is what the hook threw.
 */
export class ResultWithheldError extends TroupeError {
  readonly code = 'RESULT_WITHHELD';
}

/**
 * The tool is held back until someone accepts it, since it differs from what was accepted (`review: 'hold-changes'`): a
 * call was not sent, or an acceptance was for another definition than the one that is held.
 */
export class ToolHeldError extends TroupeError {
  readonly code = 'TOOL_HELD';
  /** The server's own name for it. */
  readonly tool: string;
  /** Why it is held. */
  readonly reason: HeldReason;
  /** The fields that differ from the accepted ones. */
  readonly fields: readonly string[];
  /** Fingerprint of the present tool, to which an acceptance is bound. */
  readonly fingerprint: string;

  /**
   * @param message What happened, then what to do, for a person.
   * @param held The tool, and why it is held back.
   */
  constructor(
    message: string,
    held: {
      /** Name of the server. */
      readonly server: string;
      /** The server's own name for it. */
      readonly tool: string;
      /** Why it is held. */
      readonly reason: HeldReason;
      /** The fields that differ from the accepted ones; may be empty. */
      readonly fields: readonly string[];
      /** Fingerprint of the present tool. */
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
 * Nothing was sent: no server has that name, no server lists that prompt or resource, or several servers list the resource
 * and the request does not say which one to use.
 */
export class NotFoundError extends TroupeError {
  readonly code = 'NOT_FOUND';
}

/** The server has not declared that it takes such requests, and nothing was sent. */
export class UnsupportedError extends TroupeError {
  readonly code = 'UNSUPPORTED';
}

/** The server answered with a JSON-RPC error; its code and data are kept. */
export class JsonRpcError extends TroupeError {
  readonly code = 'JSON_RPC_ERROR';
  /** Code of the error (JSON-RPC 2.0 section 5.1), for instance -32602. */
  readonly rpcCode: number;
  /** The server's own message. `message` adds the code and the id of the request. */
  readonly rpcMessage: string;
  /** What the server sent with the error; undefined if nothing. */
  readonly data: unknown;
  /** Id of the JSON-RPC request. */
  readonly requestId: number | undefined;

  /**
   * @param rpcCode Code of the error (JSON-RPC 2.0 section 5.1), for instance -32602.
   * @param rpcMessage The message of the server, for a person.
   * @param options The server, the cause, the request and the data of the error. Default: none of them.
   */
  constructor(
    rpcCode: number,
    rpcMessage: string,
    options: TroupeErrorOptions & {
      /** What the server sent with the error. Default: nothing. */
      readonly data?: unknown;
      /** Id of the JSON-RPC request. Default: unknown. */
      readonly requestId?: number | undefined;
    } = {},
  ) {
    const { requestId } = options;
    super(`${rpcMessage} (JSON-RPC error ${rpcCode}${inWords(requestId)})`, options);
    this.rpcCode = rpcCode;
    this.rpcMessage = rpcMessage;
    this.data = options.data;
    this.requestId = requestId;
  }
}

function inWords(requestId: number | undefined): string {
  return requestId === undefined ? '' : `, request ${requestId}`;
}

/** A server in the configuration: a checked entry, with its origin. */

import type { RawFailure } from '../../failures/transport-error.js';
import type { InputRequest, ServerConfig } from './server-config.js';

/**
 * `host`: named by the host's code. `given`: in a file that the user named. `project`, `user`: in files that were
 * found. `extension`: from an extension of the host.
 */
export type Scope = 'host' | 'given' | 'project' | 'user' | 'extension';

/** The declaration of one input in a file. */
export type InputSpec = Omit<InputRequest, 'server' | 'source'>;

interface Claim {
  readonly name: string;
  /** The source that names it, in a form that a person recognises. */
  readonly source: string;
  readonly scope: Scope;
  /** Sources whose entry of the same name is not used. */
  readonly shadows: readonly string[];
}

/** One server that may be started. */
export interface ServerSpec extends Claim {
  /** Absolute path of the folder that relative paths of the entry start from. */
  readonly baseDir: string;
  /** Absolute path of the folder of its file; undefined if it comes from code. */
  readonly fileDir?: string;
  /** Validated, but not expanded: it holds names of variables, no values. */
  readonly config: ServerConfig;
  /** Fingerprint of the entry; see `entryHash`. */
  readonly hash: string;
  /** Fingerprint of the entry as its source has it, if other sources restrict it: trust is bound to this one. */
  readonly ownHash?: string;
  /** The SHA-256 of each file that it runs, by path, if trust is bound to them. */
  readonly contents?: Readonly<Record<string, string>>;
  /** The declarations of its inputs in the source. */
  readonly inputs?: ReadonlyMap<string, InputSpec>;
}

/** A server that cannot be started until someone corrects its entry. */
export interface RefusedServer extends Claim {
  readonly failure: RawFailure;
}

export type ServerRow = ServerSpec | RefusedServer;

/** Where the values of an entry's variables and inputs come from. */

/** A question to a person: the value of `${input:ID}` in an entry. */
export interface InputRequest {
  /** Name of the server. */
  readonly server: string;
  /** The source that names the server. */
  readonly source: string;
  /** The id of the input in the file: `${input:ID}`. */
  readonly id: string;
  /** The description in the file. */
  readonly description?: string;
  /** The default in the file. */
  readonly default?: string;
  /** The answers to choose from. */
  readonly options?: readonly string[];
  /** The answer is a secret and must not be shown. */
  readonly password: boolean;
}
/** How to expand variables in entries. */
export interface ExpansionOptions {
  /**
   * Source of the variables in headers. `host`: the entry's own `env`, then the host's variables. `own-env`:
   * only the entry's own `env`. Default `host`.
   */
  readonly headers?: 'own-env' | 'host';
  /**
   * How to treat a variable that is not set and has no default. `error`: the server fails and the failure
   * names the variable. `empty`: it becomes an empty text. Default `error`.
   */
  readonly missing?: 'error' | 'empty';
}

/**
 * Asks a person for a value; undefined means no answer.
 *
 * @param request The input, and the server and source that need it.
 */
export type AskInput = (request: InputRequest) => Promise<string | undefined> | string | undefined;

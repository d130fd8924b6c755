/**
 * One entry of the configuration: its settings, whether it may run, and its expansion, which is computed for every
 * attempt. A new reading makes a new entry. It holds names of variables; values exist only in the result of `resolve`.
 */
import type { Resolution } from '../actors/effect-ports.js';
import type { Contents } from '../trust/contents.js';
import type { TrustedEntries } from '../trust/trusted-entries.js';
import {
  effectiveSettings,
  type EffectiveSettings,
  type HostSettings,
} from '../config/entry/effective-settings.js';
import { targetOf } from '../config/diff.js';
import { hashOf } from '../json/json-hash.js';
import { listsKey, targetHash, type Declared } from './lists-key.js';
import { readEnvFile } from './env-file.js';
import { expandConfig } from '../config/entry/expand.js';
import { hiddenInputs, type InputAnswers } from '../config/entry/inputs.js';
import type { ServerConfig, ExpansionOptions } from '../config/entry/server-config.js';
import type { ServerRow, ServerSpec } from '../config/entry/server-spec.js';
import { needsTrust, signsInIfTrusted, toTrustRequest } from '../trust/trust-rules.js';
import type { TrustPolicy, TrustRequest } from '../trust/trust-request.js';
import { secretsOf } from '../secrets/secrets.js';
import type { ServerStatus } from '../lifecycle/status.js';
import { TransportError } from '../failures/transport-error.js';
import { homeFolder } from '../storage/folders.js';
import type { ReviewedServer } from '../catalog/catalogs.js';

/** What applies to every entry of a troupe. */
export interface EntryTerms extends HostSettings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workspaceFolder: string;
  readonly trust?: TrustPolicy;
  readonly trustedEntries: TrustedEntries;
  readonly expansion?: ExpansionOptions;
  readonly answers: InputAnswers;
}

/** The expanded entry, and the secrets among its values. */
export interface Resolved {
  readonly resolution: Resolution;
  readonly secrets: readonly string[];
  /** Names of variables that the `envFile` does not set, because they decide what runs and the file is the project's. */
  readonly ignored: readonly string[];
}

export class ServerEntry {
  /** The settings of the entry, or the ones of the host if the entry was refused. */
  readonly settings: EffectiveSettings;
  #listsKey: { readonly client: Declared; readonly key: string } | undefined;
  /** The files that the entry runs, as they were last read. */
  #contents: Contents | undefined;

  constructor(
    readonly row: ServerRow,
    private readonly terms: EntryTerms,
  ) {
    this.settings = effectiveSettings('failure' in row ? {} : row.config, terms);
  }

  get transport(): ServerStatus['transport'] {
    const { row } = this;
    if ('failure' in row || 'command' in row.config) return 'stdio';
    const { config } = row;
    return 'url' in config ? (config.type ?? 'http') : 'in-process';
  }

  /**
   * The key under which its lists are cached; depends on its name, its unexpanded command or address, and what the host declares.
   * Undefined for a server object of this process, which has no content to hash.
   */
  listsKey(client: Declared): string | undefined {
    const { row } = this;
    if ('failure' in row || 'server' in row.config) return undefined;
    if (this.#listsKey?.client !== client)
      this.#listsKey = { client, key: listsKey(targetHash(row), client) };
    return this.#listsKey.key;
  }

  /** What a person is asked to trust; undefined if the entry needs no trust. */
  get trustRequest(): TrustRequest | undefined {
    const { row } = this;
    return 'failure' in row || !needsTrust(row, this.terms.trust)
      ? undefined
      : toTrustRequest(this.#measured(row));
  }

  #measured(row: ServerSpec): ServerSpec {
    return this.#contents === undefined ? row : { ...row, contents: this.#contents };
  }

  /** Reads the files that the entry runs again, if trust is bound to them. */
  async #measure(): Promise<void> {
    const { row, terms } = this;
    if (terms.trust !== 'contents' || 'failure' in row || row.scope !== 'project') return;
    const { contentsOf } = await import('../trust/contents.js');
    this.#contents = await contentsOf(row, { env: terms.env, home: homeFolder() });
  }

  /** Stores that the entry is trusted. */
  trust(): void {
    const request = this.trustRequest;
    if (request !== undefined) this.terms.trustedEntries.trust(request);
  }

  /** Whether the entry needs no trust, or has it. Asks nobody; never rejects. */
  async isTrusted(): Promise<boolean> {
    await this.#measure();
    const request = this.trustRequest;
    return request === undefined || this.terms.trustedEntries.has(request);
  }

  /** Whether it may be started; asks for trust if needed. Rejects as `resolve` does. */
  async askForTrust(): Promise<boolean> {
    this.#requireUsable();
    await this.#measure();
    const request = this.trustRequest;
    const { trustedEntries, trust } = this.terms;
    if (request === undefined || (await trustedEntries.has(request))) return true;
    if (typeof trust !== 'function' || !(await trust(request))) return false;
    trustedEntries.trust(request);
    return trustedEntries.has(request);
  }

  /** Rejects with a `TransportError` whose failure says what is wrong with the entry. */
  async resolve(): Promise<Resolved> {
    const row = this.#requireUsable();
    if (!(await this.askForTrust())) return { resolution: { kind: 'untrusted' }, secrets: [], ignored: [] };
    const answers = await this.terms.answers.answersFor(row);
    if ('failure' in answers) throw new TransportError(answers.failure);
    const inputs = answers.values;
    const { env, expansion: rules } = this.terms;
    const workspaceFolder = row.scope === 'project' ? row.baseDir : this.terms.workspaceFolder;
    const values = { ...rules, env, inputs, workspaceFolder, home: homeFolder() };
    const envFile = await readEnvFile(row, values, this.terms.workspaceFolder);
    const expansion = expandConfig(row, { ...values, fileEnv: envFile.values });
    if ('failure' in expansion) throw new TransportError(expansion.failure);
    const config = (await this.#maySignIn(row)) ? expansion.config : withoutSignIn(expansion.config);
    // A copy of the host's variables reads each of them from the system.
    const known = Object.keys(inputs).length === 0 ? env : { ...env, ...inputs };
    const secrets = secretsOf(row.config, config, known, hiddenInputs(row));
    const elsewhere = this.#startsElsewhere(row);
    return {
      resolution: { kind: 'resolved', hash: row.hash, config, folder: row.baseDir, elsewhere },
      secrets,
      ignored: envFile.ignored,
    };
  }

  /** An address that nobody trusted gets no token that the user has, and no sign-in begins there. */
  async #maySignIn(row: ServerSpec): Promise<boolean> {
    const { trust, trustedEntries } = this.terms;
    return !signsInIfTrusted(row, trust) || trustedEntries.has(toTrustRequest(this.#measured(row)));
  }

  #startsElsewhere({ config, scope, baseDir }: ServerSpec): string | undefined {
    const isOfWorkspace = scope === 'project' || baseDir === this.terms.workspaceFolder;
    if (!('command' in config) || config.cwd !== undefined || isOfWorkspace) return undefined;
    return `It starts in ${baseDir}. If it needs the files of the working folder, add "cwd": "\${workspaceFolder}" to its entry.`;
  }

  #requireUsable(): ServerSpec {
    const { row } = this;
    if ('failure' in row) throw new TransportError(row.failure);
    return row;
  }
}

function withoutSignIn(config: ServerConfig): ServerConfig {
  return 'url' in config ? { ...config, oauth: false } : config;
}

/** Memo: it is needed for every session and every list, and a row never changes. */
const known = new WeakMap<ServerRow, ReviewedServer>();

/**
 * The server that a review attributes tools to: its name, and the program or address behind it; settings do not count. The
 * folder counts only for an entry of a project, so a host that runs from another folder keeps its reviews. Undefined for an
 * entry that cannot be used.
 */
export function toReviewedServer(row: ServerRow | undefined): ReviewedServer | undefined {
  if (row === undefined || 'failure' in row) return undefined;
  const reviewed = known.get(row) ?? new ReviewedEntry(row);
  known.set(row, reviewed);
  return reviewed;
}

/** Computes the hash when it is first read: most lists are never compared. */
class ReviewedEntry implements ReviewedServer {
  readonly server: string;
  readonly #spec: ServerSpec;
  #hash: string | undefined;

  constructor(spec: ServerSpec) {
    this.server = spec.name;
    this.#spec = spec;
  }

  get hash(): string {
    const { name, scope, baseDir } = this.#spec;
    const folder = scope === 'project' ? baseDir : '';
    return (this.#hash ??= hashOf({ name, target: targetOf({ ...this.#spec, baseDir: folder }) }));
  }
}

/**
 * The configured servers: what each entry says, whether it may run, and what it expands to, asked afresh for every
 * attempt. Holds names of variables; values exist only in what `resolve` returns.
 */
import type { ChildSpec } from '../machines/manager.machine.js';
import type { RetryCalls } from '../machines/policy/call-safety.js';
import type { ConnectionPolicy, StopPolicy } from '../machines/policy/policy.js';
import { hashSeed } from '../machines/policy/seeded-random.js';
import type { ConfiguredServers, Resolution } from './actors/effect-ports.js';
import { Approvals } from './approvals.js';
import type { ToolFilter } from './catalog/filter.js';
import { targetOf } from './config/diff.js';
import { hashOf } from './config/entry-hash.js';
import { defaultTexts, expandConfig, variablesWanted } from './config/expand.js';
import { InputAnswers } from './config/inputs.js';
import type { RefusedServer, ServerSpec } from './config/merge.js';
import { needsTrust, toTrustRequest } from './config/trust.js';
import {
  DEFAULT_CALL_TIMEOUT_MS,
  type ExpansionOptions,
  type PolicyOverrides,
  type ServerConfig,
  type TroupeOptions,
  type TrustPolicy,
  type TrustRequest,
} from './options.js';
import { KnownSecrets } from './known-secrets.js';
import { policyOf } from './policy.js';
import { NO_MASK, secretsOf, type Mask } from './secrets.js';
import { TransportError } from './transports/session-transport.js';
import { homeFolder } from './user-folder.js';

export interface ServerTableOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly workspaceFolder: string;
  readonly policy: PolicyOverrides | undefined;
  readonly trust: TrustPolicy | undefined;
  /** Default: those of this process. */
  readonly approvals?: Approvals;
  readonly retryCalls: RetryCalls | undefined;
  readonly seed: number;
  readonly expansion?: ExpansionOptions | undefined;
  readonly askInput?: TroupeOptions['askInput'];
  /** Strikes out the tokens that are in use for a server. */
  readonly tokenMask?: ((name: string) => Mask) | undefined;
}

/** The same object every time: what did not change is recognized by it. */
const NO_FILTER: ToolFilter = {};

export type ServerRow = ServerSpec | RefusedServer;

/** What is other from one actor of a connection to the next. */
export type Incarnation = Pick<ChildSpec['input'], 'generation' | 'wanted' | 'cached'>;

export class ServerTable implements ConfiguredServers {
  readonly #rows = new Map<string, ServerRow>();
  readonly #approvals: Approvals;
  readonly #secrets = new Map<string, KnownSecrets>();
  /** They are asked for with every list, and a row never changes. */
  readonly #cacheKeys = new WeakMap<ServerRow, string>();
  readonly #answers: InputAnswers;

  constructor(private readonly options: ServerTableOptions) {
    this.#answers = new InputAnswers(options.askInput);
    this.#approvals = options.approvals ?? new Approvals();
  }

  get names(): readonly string[] {
    return [...this.#rows.keys()];
  }

  get rows(): readonly ServerRow[] {
    return [...this.#rows.values()];
  }

  get(name: string): ServerRow | undefined {
    return this.#rows.get(name);
  }

  set(row: ServerRow): void {
    this.#rows.set(row.name, row);
  }

  delete(name: string): void {
    this.#rows.delete(name);
    this.#secrets.delete(name);
  }

  isEnabled(name: string): boolean {
    return this.#config(name)?.enabled !== false;
  }

  isLazy(name: string): boolean {
    return this.#config(name)?.start === 'lazy';
  }

  filter(name: string): ToolFilter {
    return this.#config(name)?.tools ?? NO_FILTER;
  }

  callTimeoutMs(name: string): number {
    return this.#config(name)?.callTimeout ?? DEFAULT_CALL_TIMEOUT_MS;
  }

  maxConcurrentCalls(name: string): number {
    return this.#config(name)?.maxConcurrentCalls ?? 0;
  }

  retryCalls(name: string): RetryCalls {
    return this.#config(name)?.retryCalls ?? this.options.retryCalls ?? 'safe';
  }

  transport(name: string): 'stdio' | 'http' | 'sse' | 'in-process' {
    const config = this.#config(name);
    if (config === undefined || 'command' in config) return 'stdio';
    return 'url' in config ? (config.type ?? 'http') : 'in-process';
  }

  policy(name: string): ConnectionPolicy {
    return this.policyOf(this.#config(name) ?? { command: '' });
  }

  /** The numbers an entry comes to. */
  policyOf(config: ServerConfig): ConnectionPolicy {
    const { policy, env } = this.options;
    return policyOf(config, policy, env);
  }

  stopPolicy(name: string): StopPolicy {
    return this.policy(name).stop;
  }

  mask(name: string): Mask {
    return this.#withTokens(name, this.#secrets.get(name)?.mask);
  }

  /** Leaves short values alone: a word like `info` stands in many definitions, whatever the entry says. */
  echoMask(name: string): Mask {
    return this.#withTokens(name, this.#secrets.get(name)?.likelyMask);
  }

  #withTokens(name: string, own: Mask = NO_MASK): Mask {
    const tokens = this.options.tokenMask?.(name) ?? NO_MASK;
    return tokens === NO_MASK ? own : (text) => tokens(own(text));
  }

  /**
   * Under what the tools of a server are cached: a hash of its name and of what is started or reached, unexpanded.
   * Undefined where that says nothing of the tools: a server object of this process has no content to hash.
   */
  cacheKey(name: string): string | undefined {
    const row = this.#rows.get(name);
    if (row === undefined || 'failure' in row || 'server' in row.config) return undefined;
    const key = this.#cacheKeys.get(row) ?? hashOf({ name, target: targetOf(row) });
    this.#cacheKeys.set(row, key);
    return key;
  }

  /** What the manager needs to spawn the connection. */
  childSpec(name: string, { generation, wanted, cached }: Incarnation): ChildSpec {
    const { seed } = this.options;
    return {
      source: this.#rows.get(name)?.source ?? '',
      input: {
        name,
        transport: this.transport(name),
        policy: this.policy(name),
        seed: hashSeed(seed, name),
        generation,
        wanted,
        cached,
      },
    };
  }

  /** The question an untrusted entry raises; undefined where it raises none. */
  trustRequest(name: string): TrustRequest | undefined {
    const row = this.#rows.get(name);
    if (row === undefined || 'failure' in row || !needsTrust(row, this.options.trust)) return undefined;
    return toTrustRequest(row);
  }

  /** Remembers the approval of the entry as it is now. */
  approve(name: string): void {
    const request = this.trustRequest(name);
    if (request !== undefined) this.#approvals.approve(request);
  }

  async resolve(name: string): Promise<Resolution> {
    const row = this.#usable(name);
    if (!(await this.isTrusted(name))) return { kind: 'untrusted' };
    const answers = await this.#answers.answersFor(row);
    if ('failure' in answers) throw new TransportError(answers.failure);
    const inputs = answers.values;
    const { env, expansion: rules } = this.options;
    const workspaceFolder = row.scope === 'project' ? row.baseDir : this.options.workspaceFolder;
    const expansion = expandConfig(row, { ...rules, env, inputs, workspaceFolder, home: homeFolder() });
    if ('failure' in expansion) throw new TransportError(expansion.failure);
    const { config } = expansion;
    const used = [...variablesWanted(row.config), ...Object.keys(inputs)];
    const secrets = secretsOf(config, used, { ...env, ...inputs }, defaultTexts(row.config));
    if (secrets.length > 0) this.#remember(name, secrets);
    return { kind: 'resolved', hash: row.hash, config };
  }

  #remember(name: string, secrets: readonly string[]): void {
    const known = this.#secrets.get(name) ?? new KnownSecrets();
    known.remember(secrets);
    this.#secrets.set(name, known);
  }

  /** Whether the entry needs no approval, or has it. Asks nobody; never rejects. */
  async isApproved(name: string): Promise<boolean> {
    const request = this.trustRequest(name);
    return request === undefined || this.#approvals.has(request);
  }

  async isTrusted(name: string): Promise<boolean> {
    this.#usable(name);
    const request = this.trustRequest(name);
    if (request === undefined || (await this.#approvals.has(request))) return true;
    const { trust } = this.options;
    if (typeof trust !== 'function' || !(await trust(request))) return false;
    this.#approvals.approve(request);
    return this.#approvals.has(request);
  }

  #usable(name: string): ServerSpec {
    const row = this.#rows.get(name);
    if (row === undefined) {
      throw new TransportError({ code: 'config-invalid', message: `No server is called '${name}'.` });
    }
    if ('failure' in row) throw new TransportError(row.failure);
    return row;
  }

  #config(name: string): ServerSpec['config'] | undefined {
    const row = this.#rows.get(name);
    return row === undefined || 'failure' in row ? undefined : row.config;
  }
}

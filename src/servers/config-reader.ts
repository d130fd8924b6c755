/**
 * Reads the configuration of one troupe, as often as requested, and reports its problems. Starts nothing.
 *
 * R1. An entry that was kept is part of every reading until it is dropped, even if the host replaces its `servers`.
 * R2. A problem is reported once, and again only after it was gone in between.
 */
import { resolve } from 'node:path';
import type { TrustedEntries } from '../trust/trusted-entries.js';
import type { loadConfig, LoadedConfig } from './load-config.js';
import type { ServerSpec } from '../config/entry/server-spec.js';
import { folderOfHost } from '../config/files/discover-options.js';
import { describeProblem } from '../config/entry/problem.js';
import { isObject, kindOf } from '../config/entry/read-shape.js';
import { ConfigError, type ConfigProblem } from '../errors.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { TroupeOptions } from '../options.js';
import type { ServerConfig } from '../config/entry/server-config.js';

/** The option of that name. */
export type HostServers = NonNullable<TroupeOptions['servers']>;

/** The one name that an actor cannot have: in the record of children it is not an ordinary key. */
export const RESERVED_NAME = '__proto__';

/** An entry that can be used. */
export interface ReadEntry {
  readonly config: ServerConfig;
  readonly spec: ServerSpec;
  readonly warnings: readonly ConfigProblem[];
}

export class ConfigReader {
  readonly #options: TroupeOptions;
  readonly #trustedEntries: TrustedEntries;
  readonly #publish: (event: LifecycleEventBody) => void;
  readonly #kept = new Map<string, ServerConfig>();
  /** Relative names keep their meaning, even if the host changes its working directory. */
  readonly #cwd = process.cwd();
  #servers: HostServers | undefined;
  #reported: ReadonlySet<string> = new Set();

  /** `load` wraps each reading of the sources. */
  constructor(
    options: TroupeOptions,
    trustedEntries: TrustedEntries,
    publish: (event: LifecycleEventBody) => void,
    private readonly load: (read: () => Promise<LoadedConfig>) => Promise<LoadedConfig> = (read) => read(),
  ) {
    this.#options = options;
    this.#trustedEntries = trustedEntries;
    this.#publish = publish;
    this.#servers = options.servers;
  }

  /** Reads every source. Never rejects. */
  async read(): Promise<LoadedConfig> {
    const named = withoutReserved(await this.load(() => this.#loadSources()));
    this.#report(named.problems.filter((problem) => !this.#reported.has(describeProblem(problem))));
    this.#reported = new Set(named.problems.map(describeProblem));
    return named;
  }

  /** Absolute paths of the files that are read, including files that do not exist. */
  async places(): Promise<readonly string[]> {
    const { config = [], discover = false } = this.#options;
    const given = [config]
      .flat()
      .map((file) => resolve(this.#cwd, typeof file === 'string' ? file : file.path));
    if (discover === false) return given;
    const { placesToWatch } = await import('../config/files/file-discovery.js');
    const { project = true, user = true } = discover === true ? {} : discover;
    const cwd = folderOfHost(discover, this.#cwd);
    return [...new Set([...given, ...(await placesToWatch({ cwd, project, user }))])];
  }

  /** Reads one entry of the host. Rejects with a `ConfigError` if it cannot be used. */
  async readEntry(name: string, config: ServerConfig): Promise<ReadEntry> {
    const { problems, servers } = await load({ added: { [name]: config }, cwd: this.#cwd });
    const [spec] = servers;
    if (spec !== undefined) return { config, spec, warnings: problems };
    throw new ConfigError(problems.map(describeProblem).join('; '), { server: name, problems });
  }

  keep({ config, spec, warnings }: ReadEntry): void {
    this.#kept.set(spec.name, config);
    this.#report(warnings);
    this.#reported = new Set([...this.#reported, ...warnings.map(describeProblem)]);
  }

  drop(name: string): void {
    this.#kept.delete(name);
  }

  /** Whether the host's `servers` have this name. */
  isOfHost(name: string): boolean {
    return isObject(this.#servers) && Object.hasOwn(this.#servers, name);
  }

  /** Replaces the host's `servers`. Throws a `ConfigError` if they are not an object. */
  replaceServers(servers: HostServers): void {
    if (!isObject(servers)) {
      throw new ConfigError(
        `reload: expected an object with one entry per server, found ${kindOf(servers)}; to read the sources again, call it without arguments`,
      );
    }
    this.#servers = servers;
  }

  async #loadSources(): Promise<LoadedConfig> {
    const servers = this.#servers;
    const added = this.#added();
    return load({
      ...this.#options,
      ...(servers === undefined ? {} : { servers }),
      ...(added === undefined ? {} : { added }),
      isTrusted: await this.#trustedEntries.snapshot(),
      cwd: this.#cwd,
    });
  }

  /** The kept entries with names that the host's `servers` do not have. */
  #added(): HostServers | undefined {
    const added = [...this.#kept].filter(([name]) => !this.isOfHost(name));
    return added.length === 0 ? undefined : Object.fromEntries(added);
  }

  #report(problems: readonly ConfigProblem[]): void {
    for (const problem of problems) {
      this.#publish({
        type: 'diagnostic',
        kind: 'config-problem',
        problem: problem.code,
        message: describeProblem(problem),
        ...(problem.server === undefined ? {} : { server: problem.server }),
      });
    }
  }
}

/** Loads the modules for reading with the first use. */
async function load(...given: Parameters<typeof loadConfig>): Promise<LoadedConfig> {
  const { loadConfig } = await import('./load-config.js');
  return loadConfig(...given);
}

function withoutReserved<T extends LoadedConfig>(loaded: T): T {
  return { ...loaded, refused: loaded.refused.filter(({ name }) => name !== RESERVED_NAME) };
}

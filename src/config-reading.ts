/**
 * Reads the configuration of one troupe, as often as it is asked, and tells what is wrong with it. Starts nothing.
 *
 * R1. An entry that was kept is part of every reading until it is dropped, whatever the host's `servers` become.
 * R2. A problem is told once, and again only where it was gone meanwhile.
 */
import { resolve } from 'node:path';
import type { Approvals } from './approvals.js';
import type { loadConfig, LoadedConfig } from './config/load.js';
import type { ServerSpec } from './config/merge.js';
import { describeProblem } from './config/problem.js';
import { isObject, kindOf } from './config/read-shape.js';
import { ConfigError, type ConfigProblem } from './errors.js';
import type { LifecycleEventBody } from './lifecycle/event.js';
import type { ServerConfig, TroupeOptions } from './options.js';

export type Servers = NonNullable<TroupeOptions['servers']>;

/** The one name that an actor cannot have, not even to tell why: in the record of children it is no ordinary key. */
export const NOBODYS_NAME = '__proto__';

/** An entry that can be used. */
export interface ReadEntry {
  readonly config: ServerConfig;
  readonly spec: ServerSpec;
  readonly warnings: readonly ConfigProblem[];
}

export class ConfigReading {
  readonly #options: TroupeOptions;
  readonly #approvals: Approvals;
  readonly #publish: (event: LifecycleEventBody) => void;
  readonly #kept = new Map<string, ServerConfig>();
  /** Relative names mean the same for as long as the troupe lives, wherever the host goes. */
  readonly #cwd = process.cwd();
  #servers: Servers | undefined;
  #told: ReadonlySet<string> = new Set();

  /** `load` stands between the sources and who reads them. */
  constructor(
    options: TroupeOptions,
    approvals: Approvals,
    publish: (event: LifecycleEventBody) => void,
    private readonly load: (read: () => Promise<LoadedConfig>) => Promise<LoadedConfig> = (read) => read(),
  ) {
    this.#options = options;
    this.#approvals = approvals;
    this.#publish = publish;
    this.#servers = options.servers;
  }

  /** Reads every source. Never rejects. */
  async read(): Promise<LoadedConfig> {
    const named = withoutNobody(await this.load(() => this.#loadSources()));
    this.#tell(named.problems.filter((problem) => !this.#told.has(describeProblem(problem))));
    this.#told = new Set(named.problems.map(describeProblem));
    return named;
  }

  /** Absolute paths of the files that are read, those included that are not there. */
  async places(): Promise<readonly string[]> {
    const { config = [], discover = false } = this.#options;
    const given = [config]
      .flat()
      .map((file) => resolve(this.#cwd, typeof file === 'string' ? file : file.path));
    if (discover === false) return given;
    const { placesToWatch } = await import('./config/discovery.js');
    const { cwd = '.', project = true, user = true } = discover === true ? {} : discover;
    return [
      ...new Set([...given, ...(await placesToWatch({ cwd: resolve(this.#cwd, cwd), project, user }))]),
    ];
  }

  /** Reads one entry of the host. Rejects with a `ConfigError` where it cannot be used. */
  async readEntry(name: string, config: ServerConfig): Promise<ReadEntry> {
    const { problems, servers } = await load({ servers: { [name]: config }, cwd: this.#cwd });
    const [spec] = servers;
    if (spec !== undefined) return { config, spec, warnings: problems };
    throw new ConfigError(problems.map(describeProblem).join('; '), { server: name, problems });
  }

  keep({ config, spec, warnings }: ReadEntry): void {
    this.#kept.set(spec.name, config);
    this.#tell(warnings);
    this.#told = new Set([...this.#told, ...warnings.map(describeProblem)]);
  }

  drop(name: string): void {
    this.#kept.delete(name);
  }

  /** Whether the host's `servers` name it. */
  isOfHost(name: string): boolean {
    return isObject(this.#servers) && Object.hasOwn(this.#servers, name);
  }

  /** Replaces the host's `servers`. Throws a `ConfigError` where that is no object. */
  replaceServers(servers: Servers): void {
    if (!isObject(servers)) {
      throw new ConfigError(
        `reload: expected an object with one entry per server, found ${kindOf(servers)}; to read the sources again, call it without`,
      );
    }
    this.#servers = servers;
  }

  async #loadSources(): Promise<LoadedConfig> {
    const servers = this.#hostServers();
    return load({
      ...this.#options,
      ...(servers === undefined ? {} : { servers }),
      isApproved: await this.#approvals.snapshot(),
      cwd: this.#cwd,
    });
  }

  #hostServers(): Servers | undefined {
    const servers = this.#servers;
    if (this.#kept.size === 0 || (servers !== undefined && !isObject(servers))) return servers;
    return { ...Object.fromEntries(this.#kept), ...servers };
  }

  #tell(problems: readonly ConfigProblem[]): void {
    for (const problem of problems) {
      this.#publish({
        type: 'diagnostic',
        kind: 'config-problem',
        message: describeProblem(problem),
        ...(problem.server === undefined ? {} : { connection: problem.server }),
      });
    }
  }
}

/** Reading a configuration takes files that nobody needs before. */
async function load(...given: Parameters<typeof loadConfig>): Promise<LoadedConfig> {
  const { loadConfig } = await import('./config/load.js');
  return loadConfig(...given);
}

function withoutNobody<T extends LoadedConfig>(loaded: T): T {
  return { ...loaded, refused: loaded.refused.filter(({ name }) => name !== NOBODYS_NAME) };
}

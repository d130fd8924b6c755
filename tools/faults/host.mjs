/**
 * The host of one case in its own process: receives the case over IPC, performs its steps with Troupe as any host would,
 * and sends its observations back. It does not judge them.
 *
 * H1. An uncaught error or an unhandled rejection is reported and does not end the case.
 * H2. The troupe is closed before the last message in any case.
 * H3. Every process of a server is reported as soon as it is known, so that a failing host leaves nothing behind.
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createTroupe } from 'mcp-troupe';
import { sharedOptions } from './client-settings.mjs';
import { STEPS } from './steps.mjs';
import { TokenShelf } from './token-shelf.mjs';
import { Watch } from './watch.mjs';

const LATE_REJECTIONS_MS = 100;
const MEGABYTE = 1024 * 1024;
/** Makes the random delays the same in every run. */
const SEED = 6;

class Host {
  watch;
  /** The open troupe, or the last one. */
  troupe = undefined;
  isOpen = false;
  configFile = undefined;
  justListed = new Set();
  seen = { calls: {}, exposed: [], problems: [], crashes: [], stopMs: null, stoppedAt: null, rssGrowthMb: 0 };
  #rssAtStart = 0;
  #tokens;

  /** `job` is `{ kase, url, control, folder, scratch, values, secrets }`. */
  constructor(job) {
    Object.assign(this, job);
    this.watch = new Watch({
      secrets: job.secrets,
      onProcess: (pid) => void send({ type: 'process', pid }),
    });
    this.#tokens = new TokenShelf(this.kase.client?.oauth?.tokens);
  }

  open(options) {
    if (this.isOpen) throw new Error('the host is already open');
    const shared = sharedOptions(this.kase, this.url, this.#tokens);
    this.#rssAtStart = rss();
    this.troupe = createTroupe({
      cache: false,
      ...options,
      ...shared,
      seed: SEED,
      logger: this.watch.logger,
    });
    this.isOpen = true;
    this.watch.follow(this.troupe);
    void this.troupe.start().then(
      ({ sources }) => this.#keepUnreadable(sources),
      (error) => this.seen.problems.push(`start: ${error.message}`),
    );
  }

  /** Waits until every server is ready, has failed or waits for a person. A timeout is not an error. */
  async settled(signal) {
    try {
      await this.troupe.settled({ signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** The connection of the named server; otherwise all ready connections, or all if none is ready. */
  connectionsFor(server) {
    if (this.troupe === undefined) throw new Error('the host is not open');
    const names = server === undefined ? this.troupe.status.map((row) => row.server) : [server];
    const all = names.flatMap((name) => this.troupe.connection(name) ?? []);
    if (all.length === 0) throw new Error(`no server${server === undefined ? '' : ` '${server}'`}`);
    const ready = all.filter(({ state }) => state === 'ready');
    return ready.length > 0 ? ready : all;
  }

  /** The server's own names of its tools; if no server is named, those of all servers without duplicates. */
  rawNames(server) {
    if (this.troupe === undefined) throw new Error('the host is not open');
    const names = [];
    for (const row of this.troupe.status) {
      if (server !== undefined && server !== row.server) continue;
      const own = this.troupe.tools.filter((tool) => tool.server === row.server).map(({ tool }) => tool);
      names.push(...own.filter((tool) => !names.includes(tool)));
    }
    return names;
  }

  noteExposed() {
    this.seen.exposed.push(this.troupe.tools.map(({ name }) => name));
  }

  /** Calls a tool by its exposed name. A tool that is not listed is called by the server's own name. */
  async callTool({ server, tool, args = {} }, options) {
    if (this.troupe === undefined) throw new Error('the host is not open');
    const listed = this.troupe.tools.find(
      (one) => one.tool === tool && (server === undefined || one.server === server),
    );
    const name = server ?? this.troupe.status[0]?.server;
    const connection = listed === undefined ? this.troupe.connection(name) : undefined;
    return connection === undefined
      ? this.troupe.callTool(listed?.name ?? tool, args, options)
      : connection.callTool(tool, args, options);
  }

  async close() {
    if (!this.isOpen) return;
    await this.#takeStock();
    const startedAt = Date.now();
    this.isOpen = false;
    await this.troupe.close();
    this.seen.stoppedAt = Date.now();
    this.seen.stopMs = Math.max(this.seen.stopMs, this.seen.stoppedAt - startedAt);
    this.watch.end();
  }

  /** Requests to be killed by a signal and waits for it; without a signal, fails by itself. */
  async die(signal) {
    await this.#takeStock();
    await send({ type: 'dying', signal, seen: this.report() });
    if (signal === null) {
      process.removeAllListeners('uncaughtException');
      setImmediate(() => {
        throw new Error('the host fails, as the case requires');
      });
    }
    await new Promise(() => {});
  }

  report() {
    const { servers, diagnostics, configErrors, texts } = this.watch;
    return {
      ...this.seen,
      areTokensKept: this.#tokens.areTokensKept,
      servers: Object.fromEntries(servers),
      diagnostics,
      configErrors: Object.fromEntries(configErrors),
      texts: [...texts],
    };
  }

  async #takeStock() {
    if (!this.isOpen) return;
    await this.watch.takeStock(this.troupe);
    this.noteExposed();
    this.seen.rssGrowthMb = (rss() - this.#rssAtStart) / MEGABYTE;
    this.seen.endedAt = Date.now();
  }

  #keepUnreadable(sources) {
    for (const { ok, message } of sources) {
      if (!ok) this.watch.addConfigError(message);
      this.watch.keep(message ?? '');
    }
  }
}

/** Memory in use after garbage collection. */
function rss() {
  globalThis.gc?.();
  return process.memoryUsage.rss();
}

function send(message) {
  return new Promise((resolve) => {
    process.send(message, resolve);
  });
}

async function drive(host) {
  for (const [index, step] of host.kase.steps.entries()) {
    const place = `step ${index + 1} (${step.do})`;
    await send({ type: 'step', place });
    host.justListed = host.watch.takeListed();
    try {
      await STEPS[step.do](step, host);
    } catch (error) {
      host.watch.keepError(error);
      host.seen.problems.push(`${place}: ${error.message}`);
      return;
    }
  }
}

const [job] = await once(process, 'message');
const host = new Host(job);
const crash = (kind) => (error) => host.seen.crashes.push(`${kind}: ${error?.stack ?? error}`);
process.on('uncaughtException', crash('uncaught error'));
process.on('unhandledRejection', crash('unhandled rejection'));
process.on('disconnect', () => process.exit());

await drive(host);
await send({ type: 'step', place: 'closing' });
try {
  await host.close();
} catch (error) {
  host.seen.problems.push(`closing: ${error.message}`);
}
await pause(LATE_REJECTIONS_MS);
await send({ type: 'done', seen: host.report() });
process.removeAllListeners('disconnect');
process.disconnect();

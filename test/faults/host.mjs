/**
 * The host of one case, a process of its own: gets the case over IPC, does its steps with Troupe as any host would,
 * and sends back what it saw. Whether that is right is not decided here.
 *
 * H1. An uncaught error or an unhandled rejection is kept and told; it does not end the case.
 * H2. The troupe is closed before the last message, whatever happened.
 */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { createTroupe } from 'mcp-troupe';
import { NotSupported, sharedOptions } from './client-settings.mjs';
import { STEPS } from './steps.mjs';
import { Watch } from './watch.mjs';

/** Longest time the last state is waited for where a new try is on its way. */
const LAST_TRY_MS = 5_000;
const LATE_REJECTIONS_MS = 100;
const MEGABYTE = 1024 * 1024;
/** The same waits in every run. */
const SEED = 6;

class Host {
  watch = new Watch();
  troupe = undefined;
  configFile = undefined;
  justListed = new Set();
  seen = { calls: {}, exposed: [], problems: [], crashes: [], stopMs: null, stoppedAt: null, rssGrowthMb: 0 };
  #rssAtStart = 0;

  constructor({ kase, url, control, scratch }) {
    Object.assign(this, { kase, url, control, scratch });
  }

  open(options) {
    if (this.troupe !== undefined) throw new Error('it is open already');
    const shared = sharedOptions(this.kase);
    this.#rssAtStart = process.memoryUsage.rss();
    this.troupe = createTroupe({ ...options, ...shared, seed: SEED, logger: this.watch.logger });
    this.watch.follow(this.troupe);
  }

  /** Until every server is ready, has failed or waits for a person. */
  async settled(signal) {
    await this.#waited(this.troupe.settled({ signal }), signal);
  }

  /** Until the first attempts are over. */
  async started(signal) {
    const report = await this.#waited(this.troupe.start({ signal }), signal);
    const unreadable = (report?.sources ?? []).filter(({ ok }) => !ok);
    this.watch.configErrors.push(...unreadable.map(({ message }) => message));
    this.watch.keep(unreadable);
    await this.watch.takeStock(this.troupe, LAST_TRY_MS);
    for (const server of this.watch.servers.values()) server.pidAtLoad = server.pid;
  }

  connection(server) {
    if (this.troupe === undefined) throw new Error('nothing is open');
    const name = server ?? this.troupe.status[0]?.name;
    const connection = name === undefined ? undefined : this.troupe.connection(name);
    if (connection === undefined) throw new Error(`there is no server '${name}'`);
    return connection;
  }

  /** As the servers call their tools; of all servers where none is named. */
  rawNames(server) {
    const { tools } = this.troupe;
    return tools.filter((tool) => server === undefined || tool.server === server).map(({ tool }) => tool);
  }

  noteExposed() {
    this.seen.exposed.push(this.troupe.tools.map(({ name }) => name));
  }

  /** By the name the host was given; a tool that is not listed is still asked for, under the server's name for it. */
  async callTool({ server, tool, args = {} }, options) {
    const connection = this.connection(server);
    const listed = this.troupe.tools.find((one) => one.server === connection.name && one.tool === tool);
    return listed === undefined
      ? connection.callTool(tool, args, options)
      : this.troupe.callTool(listed.name, args, options);
  }

  async close() {
    const { troupe } = this;
    if (troupe === undefined) return;
    await this.#takeStock();
    const startedAt = Date.now();
    this.troupe = undefined;
    await troupe.close();
    this.seen.stoppedAt = Date.now();
    this.seen.stopMs = this.seen.stoppedAt - startedAt;
    this.watch.end();
  }

  /** Asks to be killed, and waits for it. */
  async die(signal) {
    await this.#takeStock();
    await send({ type: 'kill', signal, seen: this.report() });
    await new Promise(() => {});
  }

  report() {
    const { servers, diagnostics, configErrors, texts } = this.watch;
    return {
      ...this.seen,
      servers: Object.fromEntries(servers),
      diagnostics,
      configErrors,
      texts: [...texts],
    };
  }

  async #takeStock() {
    await this.watch.takeStock(this.troupe, LAST_TRY_MS);
    this.noteExposed();
    this.seen.rssGrowthMb = (process.memoryUsage.rss() - this.#rssAtStart) / MEGABYTE;
  }

  /** A wait whose limit is over is no error. */
  async #waited(promise, signal) {
    try {
      return await promise;
    } catch (error) {
      if (!signal.aborted) throw error;
      return undefined;
    }
  }
}

function send(message) {
  return new Promise((resolve) => {
    process.send(message, resolve);
  });
}

async function drive(host) {
  for (const [index, step] of host.kase.steps.entries()) {
    const place = `step ${index + 1} (${step.do})`;
    await send({ type: 'step', text: place });
    host.justListed = host.watch.takeListed();
    try {
      await STEPS[step.do](step, host);
    } catch (error) {
      host.seen.problems.push(error instanceof NotSupported ? error.message : `${place}: ${error.message}`);
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
await send({ type: 'step', text: 'closing' });
try {
  await host.close();
} catch (error) {
  host.seen.problems.push(`closing: ${error.message}`);
}
await pause(LATE_REJECTIONS_MS);
await send({ type: 'done', seen: host.report() });
process.removeAllListeners('disconnect');
process.disconnect();

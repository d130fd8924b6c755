/**
 * The steps of a case, implemented with the public interface of Troupe. They write their results into `host.seen` for
 * the checks and judge nothing. A step that throws was not possible.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { outcomeOf } from './call-outcome.mjs';
import { serverEntry } from './client-settings.mjs';
import { openConfig, replaceConfig } from './config-steps.mjs';
import { limitOf, pingsOf } from './time-limits.mjs';
import { isUncaughtError } from './vocabulary.mjs';

const SERVER = 'kit';
const POKE_LIMIT_MS = 10_000;

const signalOf = (step) => AbortSignal.timeout(limitOf(step));

export const STEPS = {
  async connect(step, host) {
    const name = step.server ?? SERVER;
    const entry = serverEntry(host.kase, host.url);
    if (!host.isOpen) host.open({ servers: { [name]: entry } });
    else if (host.troupe.connection(name) === undefined) await host.troupe.add(name, entry);
    await host.settled(signalOf(step));
    host.watch.notePids(host.troupe);
  },

  async 'connect-many'(step, host) {
    const entry = serverEntry(host.kase, host.url);
    const names = Array.from({ length: step.count }, (_, index) => `${SERVER}-${index + 1}`);
    host.open({ servers: Object.fromEntries(names.map((name) => [name, entry])) });
    await host.settled(signalOf(step));
    host.watch.notePids(host.troupe);
  },

  /** Some servers may never settle; the checks decide whether that is right. */
  async load(step, host) {
    await openConfig(step, host);
    await host.settled(signalOf(step));
    host.watch.notePids(host.troupe);
  },

  async 'replace-config'(step, host) {
    await replaceConfig(step, host);
  },

  /** A list that arrived with a session in the previous step is not requested again. */
  async list(step, host) {
    const signal = signalOf(step);
    const connections = host.connectionsFor(step.server);
    const results = await Promise.allSettled(
      connections.map(async (connection) => {
        await connection.ready({ signal });
        if (!host.justListed.has(connection.name)) await connection.refresh({ signal });
      }),
    );
    const errors = results.flatMap(({ reason }) => reason ?? []);
    for (const error of errors) host.watch.keepError(error);
    const [first] = errors;
    host.seen.list =
      errors.length === results.length
        ? { error: `${first?.name}: ${first?.message}` }
        : { tools: host.rawNames(step.server) };
    host.noteExposed();
  },

  registry(step, host) {
    host.seen.registry = host.rawNames(step.server);
    host.noteExposed();
  },

  async call(step, host) {
    host.seen.calls[step.as ?? step.tool] = await outcomeOf(host, step);
  },

  async 'call-and-abort'(step, host) {
    const cancelling = new AbortController();
    const outcome = outcomeOf(host, step, cancelling.signal);
    await pause(step.afterMs);
    const cancelledAt = Date.now();
    cancelling.abort(new Error('the user has changed their mind'));
    const { settledAt, ...rest } = await outcome;
    host.seen.calls[step.as ?? step.tool] = { ...rest, settledAt, ms: settledAt - cancelledAt };
  },

  /** Troupe pings by itself; the step waits and observes whether Troupe regards the server as healthy. */
  async ping(step, host) {
    const [{ name }] = host.connectionsFor(step.server);
    const { count, everyMs } = pingsOf(step, host.kase.client);
    const doubts = new Set(host.seen.pings?.doubts);
    let probes = host.seen.pings?.probes ?? 0;
    const subscription = host.troupe.status$.subscribe((rows) => {
      const row = rows.find((one) => one.server === name);
      if (row?.state !== 'ready') doubts.add(`it was ${row?.state ?? 'absent'}`);
      else if (row.tags.includes('suspect')) doubts.add('it was suspected to be dead');
      else if (row.tags.includes('probing')) probes += 1;
    });
    await pause((count + 1) * everyMs);
    subscription.unsubscribe();
    host.seen.pings = { doubts: [...doubts], probes };
  },

  async wait(step) {
    await pause(step.ms);
  },

  async poke(step, host) {
    if (host.control === undefined) throw new Error('there is no HTTP server to poke');
    const response = await fetch(`${host.control}do/${encodeURIComponent(step.action)}`, {
      method: 'POST',
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(POKE_LIMIT_MS),
    });
    await response.text();
    if (!response.ok) throw new Error(`the server has no action '${step.action}'`);
  },

  async 'kill-host'({ signal = 'SIGTERM' }, host) {
    await host.die(isUncaughtError(signal) ? null : signal);
  },

  async stop(_, host) {
    await host.close();
  },
};

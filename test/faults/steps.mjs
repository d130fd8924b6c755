/**
 * What each step of a case does to the public interface of Troupe. Judges nothing: what came of it is written into
 * `host.seen`, for the checks. A step that throws could not be done at all.
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { outcomeOf } from './call-outcome.mjs';
import { NotSupported, serverEntry } from './client-settings.mjs';

const DEFAULT_LIMIT_MS = 30_000;
const SERVER = 'kit';

const limitOf = ({ timeoutMs = DEFAULT_LIMIT_MS }) => AbortSignal.timeout(timeoutMs);

export const STEPS = {
  async connect(step, host) {
    if (host.troupe === undefined) {
      host.open({ servers: { [step.server ?? SERVER]: serverEntry(host.kase, host.url) } });
    }
    await host.settled(limitOf(step));
  },

  async 'connect-many'(step, host) {
    const entry = serverEntry(host.kase, host.url);
    const names = Array.from({ length: step.count }, (_, index) => `${SERVER}-${index + 1}`);
    host.open({ servers: Object.fromEntries(names.map((name) => [name, entry])) });
    await host.settled(limitOf(step));
  },

  async load(step, host) {
    if (step.trust === 'none') throw new NotSupported('the entries of a project file (trust)');
    const { file } = host.kase.start;
    const isReplaced = host.kase.steps.some((other) => other.do === 'replace-config');
    host.configFile = isReplaced ? join(host.scratch, 'replaced.mcp.json') : file;
    if (isReplaced) await copyFile(file, host.configFile);
    host.open({ config: host.configFile });
    await host.started(limitOf(step));
  },

  async 'replace-config'(step, host) {
    await copyFile(step.file, host.configFile);
    if (host.troupe.reload === undefined) throw new NotSupported('reading a changed configuration again');
    await host.troupe.reload();
  },

  /** A list that came with a session in the step before is not asked for again. */
  async list(step, host) {
    const connection = host.connection(step.server);
    const signal = limitOf(step);
    try {
      await connection.ready({ signal });
      if (!host.justListed.has(connection.name)) await connection.refresh({ signal });
      host.seen.list = { tools: host.rawNames(connection.name) };
    } catch (error) {
      host.watch.keepError(error);
      host.seen.list = { error: `${error.name}: ${error.message}` };
    }
    host.noteExposed();
  },

  registry(step, host) {
    host.seen.registry = host.rawNames(step.server);
    host.noteExposed();
  },

  async call(step, host) {
    host.seen.calls[step.as] = await outcomeOf(host, step);
  },

  async 'call-and-abort'(step, host) {
    const cancelling = new AbortController();
    const outcome = outcomeOf(host, step, cancelling.signal);
    await pause(step.afterMs);
    const cancelledAt = Date.now();
    cancelling.abort(new Error('the user has changed their mind'));
    const { settledAt, ...rest } = await outcome;
    host.seen.calls[step.as] = { ...rest, settledAt, ms: settledAt - cancelledAt };
  },

  /** The runtime pings by itself; the step gives it the time, and looks whether it takes the server for healthy. */
  async ping(step, host) {
    const { name } = host.connection(step.server);
    const doubts = new Set(host.seen.pingDoubts);
    const subscription = host.troupe.status$.subscribe((rows) => {
      const row = rows.find((one) => one.name === name);
      if (row?.state !== 'ready') doubts.add(`it was ${row?.state ?? 'absent'}`);
      else if (row.substate.includes('suspect')) doubts.add('it was suspected to be dead');
    });
    await pause((step.count + 1) * step.everyMs);
    subscription.unsubscribe();
    host.seen.pingDoubts = [...doubts];
  },

  async wait(step) {
    await pause(step.ms);
  },

  async poke(step, host) {
    if (host.control === undefined) throw new Error('there is no HTTP server to poke');
    const response = await fetch(`${host.control}do/${step.action}`, {
      method: 'POST',
      headers: { connection: 'close' },
    });
    await response.text();
    if (!response.ok) throw new Error(`the server knows no action '${step.action}'`);
  },

  async 'kill-host'(step, host) {
    await host.die(step.signal ?? 'SIGTERM');
  },

  async stop(_, host) {
    await host.close();
  },
};

/**
 * The process of `troupe up --background`: keeps the servers connected, and runs the commands that ask it to.
 *
 * G1. Until the command that started it has been told that each server has been tried, the end of that command is its end too.
 */
import { once } from 'node:events';
import { createTroupe } from '../../runtime/troupe.js';
import type { ServerSpec } from '../../config/entry/server-spec.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import { messageOf } from '../../text/error-message.js';
import { BackgroundLog } from '../background/background-log.js';
import { BackgroundServer } from '../background/background-server.js';
import { differingVariable } from '../background/deciding-variables.js';
import { placeOf, type Place } from '../background/place.js';
import type { RunRequest } from '../background/relay-messages.js';
import { EXIT, type ExitCode, listenForSignals } from '../exit.js';
import { Declined, type Run, type RunningTroupe } from '../host.js';
import { toTroupeOptions } from '../make-troupe.js';
import { oneLine } from '../output/terminal.js';
import { followToolChanges } from '../output/tool-changes.js';
import {
  answering,
  hasAnswer,
  inputRequests,
  readSpecs,
  type InputAnswers,
} from '../prompts/ask-for-inputs.js';
import { recordOf, type UpFlags } from './up-command.js';

export interface UpBackgroundFlags extends UpFlags {
  /** Milliseconds without a command after which the process ends; 0 for never. */
  readonly idle: number;
}

/** From the command to the process that it starts. */
export interface Order {
  readonly flags: UpBackgroundFlags;
  readonly answers: InputAnswers | null;
}

/** From the process to the command that started it. */
export type Report =
  | { readonly type: 'status'; readonly status: readonly ServerStatus[] }
  /** Each server has been tried. */
  | { readonly type: 'started'; readonly status: readonly ServerStatus[] }
  /** Another process runs already. */
  | { readonly type: 'taken'; readonly pid: number | null }
  | { readonly type: 'failed'; readonly message: string };

const GRACE_MS = 10_000;

/** The hidden command of the process. */
export const COMMAND = '__background';

/** The process: takes its order from the command that has started it. */
export async function serveInBackground(run: Run): Promise<ExitCode> {
  const [order] = (await once(process, 'message')) as [Order];
  const { flags, answers } = order;
  const tell = (report: Report): void => void process.send?.(report);
  const place = await placeOf(flags);
  const log = new BackgroundLog(place.log);
  const options = toTroupeOptions(
    flags,
    { names: [] },
    {
      watch: true,
      record: recordOf(flags),
      ...(answers !== null && { askInput: answering(answers) }),
    },
  );
  const troupe = createTroupe(options);
  const toolChanges = followToolChanges(troupe);
  troupe.events$.subscribe((event) => log.write(event));
  const server = new BackgroundServer({
    place,
    troupe,
    toolChanges,
    idleMs: flags.idle,
    graceMs: GRACE_MS,
    run,
    forCommand: (request) => admission(request, { troupe, place, answers: answers ?? {} }),
  });
  const stop = (): void => server.actor.send({ type: 'stop' });
  listenForSignals(process, stop);
  process.once('disconnect', stop);
  process.on('message', () => {
    process.off('disconnect', stop);
    process.disconnect();
  });
  await server.claimed();
  const { status: life, context } = server.actor.getSnapshot();
  if (life === 'done') {
    tell(
      context.reason === 'taken'
        ? { type: 'taken', pid: context.owner }
        : { type: 'failed', message: context.error ?? 'it failed' },
    );
    await troupe.close();
    log.close();
    return EXIT.fine;
  }
  troupe.events$.subscribe((event) => {
    if (event.type === 'connection.state' && process.connected)
      tell({ type: 'status', status: troupe.status });
    if (event.type === 'manager.failed') stop();
  });
  troupe.settled().then(
    () => {
      tell({ type: 'started', status: troupe.status });
      server.actor.send({ type: 'started' });
    },
    (error: unknown) => {
      tell({ type: 'failed', message: messageOf(error) });
      stop();
    },
  );
  await server.ended();
  log.close();
  if (process.connected) process.disconnect();
  return EXIT.fine;
}

interface Admitting extends Pick<RunningTroupe, 'troupe'> {
  readonly place: Place;
  readonly answers: InputAnswers;
}

/** Whether the troupe may run a command: see `RunningTroupe`. */
function admission(
  { env }: RunRequest,
  { troupe, place, answers }: Admitting,
): Pick<RunningTroupe, 'prepare' | 'admit'> {
  let specs: readonly ServerSpec[] = [];
  return {
    prepare: async (flags) => {
      if ((await placeOf(flags)).address !== place.address)
        throw new Declined('it has another configuration');
      ({ specs } = await readSpecs(flags));
      const name = differingVariable(
        env,
        process.env,
        specs.map(({ config }) => config),
      );
      if (name !== undefined)
        throw new Declined(oneLine(`the variable ${name} has changed since the process was started`));
      await troupe.reload();
    },
    admit: (servers) => {
      const asking = specs.filter(({ name }) => servers.includes(name)).flatMap(inputRequests);
      const unanswered = asking.find((request) => !hasAnswer(request, answers));
      if (unanswered !== undefined)
        throw new Declined(
          oneLine(`'${unanswered.server}' asks for '${unanswered.id}', which it was not given`),
        );
    },
  };
}

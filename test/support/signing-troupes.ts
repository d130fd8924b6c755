/** Troupes that sign in, on the system clock, closed after each test. Every wait has a time limit. */
import { afterEach } from 'vitest';
import type { AuthOption } from '../../src/auth/auth-options.js';
import type { TroupeOptions } from '../../src/options.js';
import { createTroupe, type Troupe } from '../../src/runtime/troupe.js';
import { recordEvents, type EventRecord } from './event-record.js';
import { inTime, WAIT_LIMIT_MS } from './time-limit.js';

export interface SigningTroupe {
  readonly troupe: Troupe;
  readonly events: EventRecord;
  /** The URL of the first sign-in request, past or future. */
  asked(server?: string): Promise<string>;
  ready(server?: string): Promise<void>;
}

export const within = (): AbortSignal => AbortSignal.timeout(WAIT_LIMIT_MS);

export function useSigningTroupes() {
  const open: Troupe[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((troupe) => troupe.close()));
  });
  return {
    /** Starts one connection for each name, all with the same address. */
    start(
      url: string,
      auth: AuthOption | undefined,
      { names = ['port'], ...options }: TroupeOptions & { readonly names?: readonly string[] } = {},
    ): SigningTroupe {
      const troupe = createTroupe({
        servers: Object.fromEntries(names.map((name) => [name, { type: 'http', url }])),
        ...(auth === undefined ? {} : { auth }),
        ...options,
      });
      open.push(troupe);
      const events = recordEvents(troupe.events$);
      void troupe.start();
      return {
        troupe,
        events,
        asked: async (server = names[0] ?? '') => {
          const isAsked = (event: { readonly server: string; readonly url?: string }): boolean =>
            event.server === server && event.url !== undefined;
          const asked = await bounded(events.when('connection.authRequired', isAsked));
          return asked.url ?? '';
        },
        ready: async (server = names[0] ?? '') => {
          await bounded(events.when('connection.ready', (event) => event.server === server));
        },
      };
    },
  };
}

/** Rejects if the promise does not settle in time. */
export function bounded<T>(promise: Promise<T>): Promise<T> {
  return inTime(promise, WAIT_LIMIT_MS, () => new Error(`Nothing arrived within ${WAIT_LIMIT_MS} ms.`));
}

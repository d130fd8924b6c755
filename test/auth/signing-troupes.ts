/** Troupes that sign in, on the time of the system, closed after each test; every wait has a bound. */
import { afterEach } from 'vitest';
import type { AuthOption } from '../../src/auth/auth-options.js';
import type { TroupeOptions } from '../../src/options.js';
import { createTroupe, type Troupe } from '../../src/troupe.js';
import { recordEvents, type EventRecord } from '../support/event-record.js';

export interface SigningTroupe {
  readonly troupe: Troupe;
  readonly events: EventRecord;
  /** The address at which the next person is asked, past ones included. */
  asked(server?: string): Promise<string>;
  ready(server?: string): Promise<void>;
}

const LIMIT_MS = 15_000;

export const within = (): AbortSignal => AbortSignal.timeout(LIMIT_MS);

export function useSigningTroupes() {
  const open: Troupe[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((troupe) => troupe.close()));
  });
  return {
    /** Starts one connection for each name, all to the same address. */
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
          const isAsked = (event: { readonly connection: string; readonly url?: string }): boolean =>
            event.connection === server && event.url !== undefined;
          const asked = await bounded(events.when('connection.authRequired', isAsked));
          return asked.url ?? '';
        },
        ready: async (server = names[0] ?? '') => {
          await bounded(events.when('connection.ready', ({ connection }) => connection === server));
        },
      };
    },
  };
}

/** Fails where the promise does not settle in time. */
export async function bounded<T>(promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Nothing came within ${LIMIT_MS} ms.`)), LIMIT_MS);
  });
  try {
    return await Promise.race([promise, limit]);
  } finally {
    clearTimeout(timer);
  }
}

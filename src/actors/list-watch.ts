/**
 * Decides when the lists of a session are read again without a request.
 *
 * L1. A list that its server says has changed is read again.
 * L2. If the server announces a change after each read and at no other time, the reads cause the announcements: from the
 *     third in a row on, they are held for growing delays. An announcement at another time ends that.
 * L3. Announcements in quick succession are one: the read that follows includes them all.
 * L4. A list whose time is over is read again after the next request to its server, unless changes of it are announced: the
 *     time is no interval for polling (MCP 2026-07-28, "Caching").
 * L5. A server that declares tools but lists none may still be starting: its tools are read again with growing delays.
 */
import type { ServerList } from '../../machines/connection/connection.events.js';
import type { Clock } from '../ports.js';
import type { Session } from '../sessions/sessions.js';

/** An announcement this soon after a read may be caused by it. */
const ECHO_MS = 1_000;
/** Echoes in a row that count as ordinary changes. */
const MAX_ECHOES = 3;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A further announcement this soon is part of the last one, unless the list was read in between. */
const BURST_MS = 20;
/** The last of the doubling pauses after which a server without tools is asked again. */
const LAST_LOOK_MS = 512_000;

export interface ListWatchPorts {
  readonly clock: Clock;
  readonly session: Session;
  /** Reads the list again. */
  changed(list: ServerList): void;
  /** Reports something odd, once. */
  report(message: string): void;
}

interface Echoes {
  /** Number of the read that announcements are compared with. */
  lastRead: number;
  /** Reads in a row that were followed by immediate announcements only. */
  streak: number;
  isOnlyEchoed: boolean;
  /** When an announcement was last passed on, and which read was the last one then. */
  passed: { readonly at: number; readonly read: number } | undefined;
  /** Ends the hold of an announcement. */
  release: (() => void) | undefined;
}

export class ListWatch {
  readonly #ports: ListWatchPorts;
  /** Undefined until a change is announced. */
  #byList: Map<ServerList, Echoes> | undefined;
  #cancelLook: (() => void) | undefined;

  constructor(ports: ListWatchPorts) {
    this.#ports = ports;
    if (this.#hasNoTools()) {
      ports.report('The server declares tools but listed none. The list is read again with growing delays.');
      this.#lookIn(FIRST_PAUSE_MS);
    }
  }

  announced(list: ServerList): void {
    const { session, clock } = this.#ports;
    const echoes = this.#echoes(list);
    const lastRead = session.listReads.number(list);
    if (lastRead !== echoes.lastRead) {
      const isNext = lastRead === echoes.lastRead + 1;
      echoes.streak = isNext && echoes.isOnlyEchoed ? echoes.streak + 1 : 0;
      echoes.lastRead = lastRead;
      echoes.isOnlyEchoed = true;
    }
    if (!session.listReads.isRecent(list, clock.now(), ECHO_MS)) {
      echoes.isOnlyEchoed = false;
      echoes.streak = 0;
    }
    if (echoes.streak < MAX_ECHOES) {
      echoes.release?.();
      const { passed } = echoes;
      const at = clock.now();
      if (passed?.read === lastRead && Math.abs(at - passed.at) < BURST_MS) return;
      echoes.passed = { at, read: lastRead };
      this.#ports.changed(list);
    } else if (echoes.release === undefined) this.#hold(list, echoes);
  }

  ranOut(list: ServerList): void {
    if (this.#ports.session.listening?.hears(list) !== true) this.#ports.changed(list);
  }

  end(): void {
    this.#cancelLook?.();
    for (const { release } of this.#byList?.values() ?? []) release?.();
  }

  #echoes(list: ServerList): Echoes {
    this.#byList ??= new Map();
    const known = this.#byList.get(list);
    if (known !== undefined) return known;
    const lastRead = this.#ports.session.listReads.number(list);
    const echoes = { lastRead, streak: 0, isOnlyEchoed: true, passed: undefined, release: undefined };
    this.#byList.set(list, echoes);
    return echoes;
  }

  #hold(list: ServerList, echoes: Echoes): void {
    const { clock } = this.#ports;
    const above = echoes.streak - MAX_ECHOES;
    if (above === 0) {
      this.#ports.report(
        `The server announces a change of its ${list} after every read. The list is read again with growing delays.`,
      );
    }
    const timer = clock.setTimeout(
      () => {
        echoes.release = undefined;
        this.#ports.changed(list);
      },
      Math.min(FIRST_PAUSE_MS * 2 ** above, LONGEST_PAUSE_MS),
    );
    echoes.release = () => {
      echoes.release = undefined;
      clock.clearTimeout(timer);
    };
  }

  #hasNoTools(): boolean {
    const { capabilities, toolsListed } = this.#ports.session;
    return capabilities.tools !== undefined && toolsListed === 0;
  }

  #lookIn(pauseMs: number): void {
    const { clock } = this.#ports;
    const timer = clock.setTimeout(() => {
      this.#cancelLook = undefined;
      if (!this.#hasNoTools()) return;
      this.#ports.changed('tools');
      if (pauseMs < LAST_LOOK_MS) this.#lookIn(pauseMs * 2);
    }, pauseMs);
    this.#cancelLook = () => clock.clearTimeout(timer);
  }
}

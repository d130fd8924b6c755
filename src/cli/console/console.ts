/**
 * `troupe up` on a terminal: the servers in a table, their logs and tools, and keys that command them.
 *
 * C1. A key that cannot be obeyed says why.
 * C2. The terminal is as before when the console is closed, suspended, or ended by an error or a signal.
 * C3. What the command has to say meanwhile, and why servers failed, is on the terminal afterwards.
 */
import type { ConnectionCommand } from '../../../machines/connection/connection.events.js';
import { hasTag } from '../../../machines/connection/connection.states.js';
import { stateInWords } from '../../lifecycle/state-in-words.js';
import type { LifecycleEvent } from '../../lifecycle/event.js';
import type { ServerStatus } from '../../lifecycle/status.js';
import type { Clock } from '../../ports.js';
import type { Troupe } from '../../runtime/troupe.js';
import type { SignalledProcess } from '../exit.js';
import { shortDuration } from '../output/duration.js';
import { RedrawSchedule } from '../output/live-area.js';
import { nameOf, type Terminal } from '../output/terminal.js';
import { AT_START, back, move, open, selectedIndex, type ConsoleState } from './console-state.js';
import { heightOf, linesOf, renderConsole, type ConsoleFacts } from './console-view.js';
import { openKeyboard } from './keyboard.js';
import { actionOf, type Action, type ServerCommand } from './keys.js';
import { Screen } from './screen.js';
import { ServerHistory } from './server-history.js';
import { countHealth, toRow } from './server-row.js';

export type Watched = Pick<Troupe, 'status' | 'tools' | 'events$' | 'whyIdle' | 'connection'>;

/** Where a person sits. */
export interface Seat {
  readonly terminal: Terminal;
  readonly stdin: NodeJS.ReadableStream;
  readonly host: SignalledProcess & { emit(signal: NodeJS.Signals): unknown };
}

/** The table shows running times. */
const TICK_MS = 1_000;
const MAX_NOTES = 200;
/** The failures that are printed at the end. */
const MAX_PROBLEMS = 20;
const NOTHING = new ServerHistory();

export class Console {
  readonly #screen: Screen;
  readonly #schedule: RedrawSchedule;
  readonly #histories = new Map<string, ServerHistory>();
  readonly #notes: string[] = [];
  readonly #openedAt: number;
  readonly #forget: readonly (() => void)[];
  #state: ConsoleState = AT_START;
  #answer = '';
  /** The servers before they were stopped at the end. */
  #lastStatus: readonly ServerStatus[] = [];
  #closeKeyboard: () => void;

  /** Takes the terminal until it is closed. */
  constructor(
    private readonly troupe: Watched,
    private readonly seat: Seat,
    private readonly clock: Clock,
  ) {
    const { terminal, stdin, host } = seat;
    const { stdout } = terminal;
    this.#openedAt = clock.now();
    this.#screen = new Screen(stdout);
    this.#screen.enter();
    terminal.diversion = (text) => this.#note(text);
    const subscription = troupe.events$.subscribe((event) => this.#take(event));
    const resized = (): void => {
      this.#screen.clear();
      this.#schedule.changed();
    };
    const suspended = (): void => this.#suspend();
    const resumed = (): void => this.#resume();
    // A terminal that was closed reports an error; the signal that comes with it ends the command.
    const ignored = (): void => {};
    stdout.on('resize', resized);
    stdin.on('error', ignored);
    host.on('SIGTSTP', suspended);
    host.on('SIGCONT', resumed);
    this.#forget = [
      () => subscription.unsubscribe(),
      () => stdout.off('resize', resized),
      () => host.off('SIGTSTP', suspended),
      () => host.off('SIGCONT', resumed),
      () => stdin.off('error', ignored),
    ];
    this.#closeKeyboard = this.#openKeyboard();
    this.#schedule = new RedrawSchedule(clock, () => this.#draw(), TICK_MS);
  }

  /** Call it when the troupe is closed. */
  close(): void {
    const { terminal } = this.seat;
    this.#schedule.close();
    this.#closeKeyboard();
    for (const forget of this.#forget) forget();
    this.#screen.leave();
    terminal.diversion = undefined;
    for (const note of this.#notes) terminal.note(note);
    for (const text of this.#summary()) terminal.print(text);
  }

  #openKeyboard(): () => void {
    const { stdin, host } = this.seat;
    return openKeyboard(stdin, {
      key: (key) => this.#press(key),
      // Not sent: on Windows, that would end the process.
      signal: (signal) => (signal === 'SIGTSTP' ? this.#askToSuspend() : host.emit(signal)),
    });
  }

  /** As a terminal does: the whole group, of which npm may be a part. */
  #askToSuspend(): void {
    try {
      this.seat.host.kill(0, 'SIGTSTP');
    } catch {
      this.#answer = 'This system cannot suspend a command.';
      this.#schedule.changed();
    }
  }

  #suspend(): void {
    const { host } = this.seat;
    this.#closeKeyboard();
    this.#screen.leave();
    host.kill(host.pid, 'SIGSTOP');
  }

  #resume(): void {
    this.#closeKeyboard();
    this.#closeKeyboard = this.#openKeyboard();
    this.#screen.enter();
    this.#schedule.changed();
  }

  #note(text: string): void {
    this.#notes.push(text);
    if (this.#notes.length > MAX_NOTES) this.#notes.shift();
    this.#schedule.changed();
  }

  #take(event: LifecycleEvent): void {
    if ('server' in event && event.server !== undefined) {
      const history = this.#histories.get(event.server) ?? new ServerHistory();
      this.#histories.set(event.server, history);
      history.add(event);
      if (event.type === 'connection.removed') this.#histories.delete(event.server);
    }
    this.#schedule.changed();
  }

  #draw(): void {
    const { troupe, seat } = this;
    if (troupe.whyIdle === undefined) this.#lastStatus = troupe.status;
    this.#screen.draw(renderConsole(this.#state, this.#facts(), this.#screen.size, seat.terminal.colors));
  }

  #facts(): ConsoleFacts {
    const { status, tools, whyIdle } = this.troupe;
    return {
      status,
      tools,
      now: this.clock.now(),
      answer: this.#answer,
      notes: this.#notes,
      isEnding: whyIdle !== undefined && this.#lastStatus.length > 0,
      historyOf: (server) => this.#histories.get(server) ?? NOTHING,
    };
  }

  #press(key: string): void {
    const action = actionOf(key);
    this.#answer = '';
    if (action === undefined) this.#answer = `'${key}' means nothing here; ? shows the keys.`;
    else this.#obey(action);
    this.#schedule.changed();
  }

  #obey(action: Action): void {
    const state = this.#state;
    switch (action.type) {
      case 'move': {
        const { size } = this.#screen;
        const facts = this.#facts();
        const servers = facts.status.map(({ server }) => server);
        const extent = { servers, lines: linesOf(state, facts, size), height: heightOf(size) };
        this.#state = move(state, action.by, extent);
        return;
      }
      case 'open':
        this.#state = open(state, action.page);
        return;
      case 'back':
        if (state.page === 'list') this.#answer = 'This is the first page; q ends.';
        this.#state = back(state);
        return;
      case 'command':
        this.#answer = this.#command(action.command);
        return;
      case 'quit':
        this.seat.host.emit('SIGINT');
    }
  }

  /** What came of it, in words. */
  #command(command: ServerCommand): string {
    const { status } = this.troupe;
    const selected =
      status[
        selectedIndex(
          this.#state,
          status.map(({ server }) => server),
        )
      ];
    const connection = selected === undefined ? undefined : this.troupe.connection(selected.server);
    if (selected === undefined || connection === undefined) return 'There is no server.';
    const isOff = selected.state === 'stopped' || hasTag(selected, 'dormant');
    const verb = command === 'stop or start' ? (isOff ? 'start' : 'stop') : command;
    const result = connection.dispatch(EVENTS[verb]);
    const name = nameOf(selected.server);
    if (result.accepted) return `${name}: ${verb}`;
    const others = Object.entries(KEY_OF).flatMap(([type, key]) =>
      result.allowed.includes(type) ? [key] : [],
    );
    const possible = others.length === 0 ? '' : `; possible: ${others.join(', ')}`;
    return `${name} is ${stateInWords(selected, this.clock.now())}: ${verb} is not possible now${possible}`;
  }

  #summary(): readonly string[] {
    const { colors } = this.seat.terminal;
    const now = this.clock.now();
    const problems = this.#lastStatus
      .map((status) => toRow(status, 0, now))
      .filter(({ health, problem }) => problem !== '' && health !== 'good');
    return [
      `${countHealth(this.#lastStatus)}, until stopped after ${shortDuration(now - this.#openedAt)}`,
      ...problems
        .slice(0, MAX_PROBLEMS)
        .map(({ server, problem }) => `${colors.red('✗')} ${server}  ${problem}`),
      ...(problems.length > MAX_PROBLEMS ? [`and ${problems.length - MAX_PROBLEMS} more`] : []),
    ];
  }
}

const EVENTS = {
  start: { type: 'connection.start' },
  stop: { type: 'connection.stop', reason: 'stop' },
  retry: { type: 'connection.retry' },
  restart: { type: 'connection.restart' },
} as const satisfies Readonly<Record<string, ConnectionCommand>>;

const KEY_OF: Readonly<Partial<Record<ConnectionCommand['type'], string>>> = {
  'connection.retry': 'r retry',
  'connection.start': 's start',
  'connection.stop': 's stop',
  'connection.restart': 'R restart',
};

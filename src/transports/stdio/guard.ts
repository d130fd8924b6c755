/**
 * The end of the servers when the host cannot end them: killed, crashed, or ended by a signal that it does not handle.
 *
 * One small process for all troupes of this host (see `guard-script.ts`) holds a pipe from it and knows the process
 * groups of its servers. When the pipe breaks, it ends them. The host behaves as if there was no guard: nothing
 * listens to its signals or errors, and its event loop is not kept alive.
 *
 * D1. The guard runs before the first server is spawned and is told of each in the same turn. It is gone when nobody
 *     needs it any more.
 * D2. A group is taken from its list when it is proven gone, so that its number is never used for somebody else.
 * D3. A guard that died is replaced at the next spawn and told every group there is. A host that died without one
 *     leaves marked servers (`owner-mark.ts`), which the first spawn of the next host ends (`sweep.ts`).
 * D4. Without a guard (no `sh`) servers run all the same; that is told once.
 *
 * Not covered: Windows, where the guard does nothing; elsewhere than on Linux, helpers that have left the group and
 * lost their parent before the host died, and the sweep.
 */
import type { TransportNotice } from '../session-transport.js';
import { endMarked, startGuard, type GuardProcess, type StartGuard } from './guard-process.js';
import { isOfDeadHost, ownMark } from './owner-mark.js';
import { sweep } from './sweep.js';

/** What one server has of the guard. */
export interface GuardPlace {
  /** From here on this process group ends with the host. */
  cover(group: number): void;
  /** Nothing of the server is left. Resolves when a guard that nobody needs any more is gone. Idempotent. */
  leave(): Promise<void>;
}

type Tell = (notice: TransportNotice) => void;

/** Must be called before the server is spawned. `tell` hears that there is no guard, if it is the first to. */
export function guardServer(tell: Tell): GuardPlace {
  if (process.platform === 'win32') return NOWHERE;
  if (!hasSwept) void sweep(isOfDeadHost, endMarked);
  hasSwept = true;
  return guard.enter(tell);
}

export class Guard {
  readonly #start: StartGuard;
  readonly #places = new Set<{ group?: number }>();
  #process: GuardProcess | undefined;
  #hasToldFailure = false;

  constructor(start: StartGuard) {
    this.#start = start;
  }

  enter(tell: Tell): GuardPlace {
    const place: { group?: number } = {};
    let left: Promise<void> | undefined;
    this.#places.add(place);
    this.#process ??= this.#launch(tell);
    return {
      cover: (group) => {
        place.group = group;
        const told = this.#process;
        told?.stdin.write(`+ ${group}\n`, (error) => {
          if (error && this.#places.has(place)) this.#replace(told, tell);
        });
      },
      leave: () => (left ??= this.#leave(place)),
    };
  }

  #launch(tell: Tell): GuardProcess | undefined {
    const child = this.#start((error) => this.#tellFailure(error, tell));
    child?.once('exit', () => {
      if (this.#process === child) this.#process = undefined;
    });
    for (const { group } of this.#places) if (group !== undefined) child?.stdin.write(`+ ${group}\n`);
    return child;
  }

  /** Its end shows itself at a write before it is reported. */
  #replace(dead: GuardProcess, tell: Tell): void {
    if (this.#process === dead) this.#process = undefined;
    this.#process ??= this.#launch(tell);
  }

  #tellFailure(error: unknown, tell: Tell): void {
    if (this.#hasToldFailure) return;
    this.#hasToldFailure = true;
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    tell({
      kind: 'no-guard',
      message: `Servers may outlive a host that is killed: their guard, a shell script, could not be started (${code}).`,
    });
  }

  async #leave(place: { group?: number }): Promise<void> {
    this.#places.delete(place);
    if (place.group !== undefined) this.#process?.stdin.write(`- ${place.group}\n`);
    if (this.#places.size === 0) await this.#end();
  }

  /** By SIGKILL: a guard without a list has nothing to lose, and this reaches it in any state. */
  async #end(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    child.ref();
    const isGone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGKILL');
    child.stdin.destroy();
    await isGone;
  }
}

const NOWHERE: GuardPlace = { cover: () => {}, leave: () => Promise.resolve() };
const guard = new Guard((onFailure) => startGuard(ownMark(), onFailure));
let hasSwept = false;

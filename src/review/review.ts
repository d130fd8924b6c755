/**
 * What a host sees of the review: the tools that are held back, and the way to approve them.
 */
import type { Observable } from 'rxjs';
import { distinctUntilChanged } from '../lifecycle/rx.js';
import { isObject } from '../config/read-shape.js';
import { exposedNames, rawKey, type ToolIdentity } from '../catalog/naming.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { NamingTemplate } from '../options.js';
import { toHeldTool, type HeldTool, type ToolToApprove, type HeldDefinition } from './held-tool.js';
import type { Reviews } from './reviews.js';

/**
 * What the review of a troupe is made of.
 *
 * @internal
 */
export interface ReviewParts {
  readonly reviews: Reviews;
  readonly publisher: Publisher;
  /** The tools that are shown; the same list until it changes. */
  readonly shown: () => readonly ToolIdentity[];
  readonly naming: NamingTemplate;
}

export class Review {
  /** The tools that are held back; replays the present list. */
  readonly held$: Observable<readonly HeldTool[]>;
  readonly #parts: ReviewParts;
  #madeFrom: readonly unknown[] = [];
  #held: readonly HeldTool[] = Object.freeze([]);

  /** @internal */
  constructor(parts: ReviewParts) {
    this.#parts = parts;
    this.held$ = parts.publisher.live(() => this.held).pipe(distinctUntilChanged());
  }

  /**
   * The tools that are held back, sorted by server and name; the same list until it changes. Empty unless the option
   * `review` is `hold-changes`.
   */
  get held(): readonly HeldTool[] {
    const definitions = this.#parts.reviews.held;
    if (definitions.length === 0 && this.#held.length === 0) return this.#held;
    const shown = this.#parts.shown();
    const from = [shown, ...definitions];
    const isSame =
      from.length === this.#madeFrom.length && from.every((each, at) => each === this.#madeFrom[at]);
    if (isSame) return this.#held;
    this.#madeFrom = from;
    this.#held = Object.freeze(this.#named(definitions, shown).toSorted(byIdentity));
    return this.#held;
  }

  /**
   * Approves a held tool as it was looked at: one of `held`, or what its `tool.held` event says. It is shown and can be
   * called from then on. Resolves to whether the approval is remembered; one that cannot be is told as a `diagnostic` and
   * counts for this troupe. Approving what is approved changes nothing.
   *
   * Rejects with a `ToolHeldError` where the tool has changed again since it was looked at, with an `UnknownToolError`
   * where no tool of that name is held, and with a `NotReadyError` from the close on.
   */
  async approve(tool: ToolToApprove): Promise<boolean> {
    if (!isToApprove(tool)) {
      throw new TypeError(
        "review.approve() takes a tool of 'review.held', or its server, tool and fingerprint.",
      );
    }
    return this.#parts.reviews.approve(tool);
  }

  /**
   * Resolves when every list of tools that there is has been compared with what was approved, and every approval is
   * kept, or the store was given up (10 s).
   */
  settled(): Promise<void> {
    return this.#parts.reviews.settled();
  }

  #named(definitions: readonly HeldDefinition[], shown: readonly ToolIdentity[]): HeldTool[] {
    const names = exposedNames([...shown, ...definitions], this.#parts.naming);
    return definitions.map((held) => toHeldTool(held, names.get(rawKey(held)) ?? held.tool));
  }
}

function byIdentity(a: ToolIdentity, b: ToolIdentity): number {
  return rawKey(a) < rawKey(b) ? -1 : 1;
}

function isToApprove(tool: unknown): tool is ToolToApprove {
  if (!isObject(tool)) return false;
  return ['server', 'tool', 'fingerprint'].every((field) => typeof tool[field] === 'string');
}

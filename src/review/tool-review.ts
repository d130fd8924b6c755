/** The review as a host sees it: the held tools, and how to accept them. */
import type { Stream } from '../lifecycle/stream.js';
import { isObject } from '../config/entry/read-shape.js';
import { exposedNames, rawKey, type ToolIdentity } from '../catalog/naming.js';
import type { Publisher } from '../lifecycle/publish.js';
import type { NamingTemplate } from '../config/entry/server-config.js';
import { toHeldTool, type HeldTool, type ToolToAccept, type HeldDefinition } from './held-tool.js';
import type { Reviews } from './reviews.js';

/**
 * The parts of a troupe's review.
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

/** The tools that are held back, and their acceptance: `Troupe.review`. */
export class Review {
  /** The tools that are held back; replays the present list. */
  readonly held$: Stream<readonly HeldTool[]>;
  readonly #parts: ReviewParts;
  #madeFrom: readonly unknown[] = [];
  #held: readonly HeldTool[] = Object.freeze([]);

  /** @internal */
  constructor(parts: ReviewParts) {
    this.#parts = parts;
    this.held$ = parts.publisher.live(() => this.held);
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
   * Accepts a held tool as it was inspected: one of `held`, or the content of its `tool.held` event. It is
   * shown and can be called from then on. Accepting an accepted tool changes nothing.
   *
   * Resolves to true if the acceptance is stored. If it cannot be stored, a `diagnostic` is published and the
   * acceptance counts for this troupe only.
   *
   * @param tool The tool with the fingerprint that was inspected.
   *
   * @throws {@link ToolHeldError} if the tool has changed since it was inspected.
   * @throws {@link UnknownToolError} if no tool of that name is held.
   * @throws {@link NotReadyError} after `close`.
   * @throws `TypeError` for anything else than a held tool.
   *
   * @example
   * ```ts
   * for (const tool of troupe.review.held) await troupe.review.accept(tool);
   * ```
   */
  async accept(tool: ToolToAccept): Promise<boolean> {
    if (!isToAccept(tool)) {
      throw new TypeError(
        "review.accept() takes a tool of 'review.held', or its server, tool and fingerprint.",
      );
    }
    return this.#parts.reviews.accept(tool);
  }

  /**
   * Resolves when every present list of tools has been compared with the accepted tools and every acceptance is stored,
   * or when the store has not answered for 10 s.
   *
   * @example
   * ```ts
   * await troupe.review.idle();
   * ```
   */
  idle(): Promise<void> {
    return this.#parts.reviews.idle();
  }

  #named(definitions: readonly HeldDefinition[], shown: readonly ToolIdentity[]): HeldTool[] {
    const names = exposedNames([...shown, ...definitions], this.#parts.naming);
    return definitions.map((held) => toHeldTool(held, names.get(rawKey(held)) ?? held.tool));
  }
}

function byIdentity(a: ToolIdentity, b: ToolIdentity): number {
  return rawKey(a) < rawKey(b) ? -1 : 1;
}

function isToAccept(tool: unknown): tool is ToolToAccept {
  if (!isObject(tool)) return false;
  return ['server', 'tool', 'fingerprint'].every((field) => typeof tool[field] === 'string');
}

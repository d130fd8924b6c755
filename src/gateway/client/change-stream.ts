/**
 * The changes that a client without a session has asked for, on the stream of that request (MCP 2026-07-28,
 * `subscriptions/listen`).
 *
 * S1. The acknowledgement comes first; changes before it are reported after it, once.
 * S2. Only what was asked for is sent.
 */
import { asText } from '../../text/as-text.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import type { NotifiedList } from './client-catalog.js';
import { subscriptionMeta } from './envelope.js';
import { invalidParams } from './error-answer.js';
import type { StatelessRequest } from './held-request.js';
import type { Subscriptions } from './subscriptions.js';

/** Most resources of one stream. */
const MAX_RESOURCES = 1_000;

const FILTER_OF: Readonly<Record<NotifiedList, string>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
};

/** The changes that a client subscribes to. */
export interface Interest {
  readonly lists: ReadonlySet<NotifiedList>;
  readonly uris: readonly string[];
}

/** Throws an `RpcError` if the params are wrong. */
export function interestIn({ notifications }: JsonObject): Interest {
  if (!isJsonObject(notifications)) throw invalidParams("'notifications' is not an object");
  const { resourceSubscriptions: uris = [] } = notifications;
  if (!Array.isArray(uris) || uris.length > MAX_RESOURCES || !uris.every((uri) => typeof uri === 'string'))
    throw invalidParams(`'resourceSubscriptions' must be a list of at most ${MAX_RESOURCES} strings`);
  const lists = (Object.keys(FILTER_OF) as NotifiedList[]).filter(
    (list) => notifications[FILTER_OF[list]] === true,
  );
  return { lists: new Set(lists), uris: [...new Set(uris)] };
}

export class ChangeStream {
  readonly subscriptions: Subscriptions;
  /** Resolves when the gateway ends it. */
  readonly ended: Promise<void>;
  readonly #request: StatelessRequest;
  readonly #lists: ReadonlySet<NotifiedList>;
  /** What was not sent before the acknowledgement, by what it says; undefined after that. */
  #early: Map<string, () => void> | undefined = new Map();
  #end: () => void = () => {};

  constructor(request: StatelessRequest, { lists }: Interest, subscriptions: Subscriptions) {
    this.#request = request;
    this.#lists = lists;
    this.subscriptions = subscriptions;
    this.ended = new Promise((resolve) => (this.#end = resolve));
  }

  /** `uris`: the resources that are watched. */
  acknowledge(uris: readonly string[]): void {
    const lists = [...this.#lists].map((list) => [FILTER_OF[list], true]);
    const early = this.#early?.values() ?? [];
    this.#early = undefined;
    this.#send('notifications/subscriptions/acknowledged', {
      notifications: {
        ...Object.fromEntries(lists),
        ...(uris.length > 0 && { resourceSubscriptions: uris }),
      },
    });
    for (const send of early) send();
  }

  listsChanged(changed: readonly NotifiedList[]): void {
    for (const list of changed)
      if (this.#lists.has(list)) this.#send(`notifications/${list}/list_changed`, {});
  }

  updated(params: JsonObject): void {
    this.#send('notifications/resources/updated', params);
  }

  end(): void {
    this.#end();
  }

  #send(method: string, params: JsonObject): void {
    if (this.#early !== undefined) {
      this.#early.set(`${method} ${asText(params['uri'])}`, () => this.#send(method, params));
      return;
    }
    const { _meta: meta } = params;
    const tagged = { ...(isJsonObject(meta) && meta), ...subscriptionMeta(this.#request.id) };
    this.#request.notify(method, { ...params, _meta: tagged });
  }
}

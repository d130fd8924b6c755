/**
 * How a gateway knows a client that is itself, as where a file names its own address: it would offer its tools to itself
 * under longer names, those again, and so on without end.
 */
import { randomUUID } from 'node:crypto';
import { isJsonObject } from '../catalog/json-object.js';
import type { JsonObject } from '../protocol/protocol-client.js';

const NAME = 'mcp-troupe/gateway';

export class OwnMark {
  readonly #id = randomUUID();
  /** What every server is told in the handshake. It says nothing of anybody. */
  readonly meta: JsonObject = { [NAME]: this.#id };

  isIn(meta: unknown): boolean {
    return isJsonObject(meta) && meta[NAME] === this.#id;
  }
}

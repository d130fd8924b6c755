/**
 * The answers of an HTTP server that are given and not read yet. Closing the server cuts them off, so whoever closes it
 * waits here first.
 */
import type { ServerResponse } from 'node:http';

/** In which a client that reads at all makes room for more, milliseconds. */
const UNREAD_MS = 3_000;

export class GivenAnswers {
  readonly #responses = new Set<ServerResponse>();

  watch(response: ServerResponse): void {
    this.#responses.add(response);
    response.once('close', () => this.#responses.delete(response));
  }

  /** Resolves when each is read, or cut off: because its client reads nothing, or by its stream, whose patience ends too. */
  async read(): Promise<void> {
    await Promise.all(this.#given().map(untilRead));
  }

  /** Cuts off what is not read yet. */
  drop(): void {
    for (const response of this.#given()) response.destroy();
  }

  #given(): readonly ServerResponse[] {
    return [...this.#responses].filter((response) => response.writableEnded);
  }
}

function untilRead(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once('close', resolve);
    // The socket's own clock begins anew whenever the system took some of what is written.
    response.setTimeout(UNREAD_MS, () => response.destroy());
  });
}

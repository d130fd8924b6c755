/** Reading server-sent events from the body of a reply, with a limit on the size of one event. */
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';

export const EVENT_STREAM = 'text/event-stream';

export interface EventReader {
  /** Characters one event may have. */
  readonly maxSize: number;
  onEvent(event: EventSourceMessage): void;
  /** The pause in milliseconds that the server wants before a client comes back. */
  onRetry(ms: number): void;
  /** Any sign of life, comments included. */
  onChunk(): void;
  /** An event passed the limit. It is left out, and reading goes on unless this throws. */
  onOversize(): void;
}

/**
 * Resolves when the stream has ended; rejects when it is cut, or with what a callback threw.
 *
 * Events of one chunk are told apart by a microtask: a protocol client that handles notifications a microtask later
 * would otherwise see a result before the progress that came ahead of it.
 */
export async function readEvents(body: AsyncIterable<Uint8Array>, reader: EventReader): Promise<void> {
  const parsed: (() => void)[] = [];
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: reader.maxSize,
    onEvent: (event) => parsed.push(() => reader.onEvent(event)),
    onRetry: (ms) => parsed.push(() => reader.onRetry(ms)),
    onError: (error) => {
      if (error.type !== 'max-buffer-size-exceeded') return;
      parser.reset();
      parsed.push(() => reader.onOversize());
    },
  });
  for await (const chunk of body) {
    reader.onChunk();
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (const tell of parsed.splice(0)) {
      tell();
      await Promise.resolve();
    }
  }
}

/** Whether an event carries a JSON-RPC message: the default type, and not the empty event that only brings an id. */
export function carriesMessage(event: EventSourceMessage): boolean {
  return (event.event === undefined || event.event === 'message') && event.data !== '';
}

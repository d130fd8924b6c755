/** The inspections of one troupe. What serves them is loaded when the first is asked for. */
import { ConfigError } from '../errors.js';
import type { Inspection, InspectOptions } from './inspection.js';
import type { LiveParts } from './live-source.js';
import type { InspectionServer } from './server.js';

const HIGHEST_PORT = 65_535;

export class Inspections {
  readonly #open = new Set<InspectionServer>();
  readonly #parts: LiveParts;
  #isClosed = false;

  constructor(parts: LiveParts) {
    this.#parts = parts;
  }

  /** Rejects with a `ConfigError` for a port that is none, or cannot be had. */
  async begin({ port = 0, title = this.#parts.title }: InspectOptions): Promise<Inspection> {
    if (!Number.isInteger(port) || port < 0 || port > HIGHEST_PORT)
      throw new ConfigError(`inspect: expected 'port' to be a whole number from 0 to ${HIGHEST_PORT}`);
    if (typeof title !== 'string') throw new ConfigError("inspect: expected 'title' to be a text");
    const [{ openInspectionServer }, { LiveSource }] = await Promise.all([
      import('./server.js'),
      import('./live-source.js'),
    ]);
    const { clock } = this.#parts;
    const source = new LiveSource({ ...this.#parts, title });
    const server = await openInspectionServer({ source, clock, port });
    this.#open.add(server);
    if (this.#isClosed) await server.close();
    return {
      url: server.url,
      close: async () => {
        this.#open.delete(server);
        await server.close();
      },
    };
  }

  /** Ends all of them; none begins any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open].map((server) => server.close('The troupe was closed.')));
  }
}


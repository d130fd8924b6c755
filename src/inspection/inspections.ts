/** The inspections of one troupe. What serves them is loaded when the first is asked for. */
import { ConfigError, NotReadyError } from '../errors.js';
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

  /** Rejects with a `ConfigError` for options that are none and a port that cannot be had; with a `NotReadyError` once closed. */
  async begin(options: InspectOptions): Promise<Inspection> {
    if (typeof options !== 'object' || options === null)
      throw new ConfigError("inspect: expected the options to be an object, such as '{ port: 4400 }'");
    const { port = 0, title = this.#parts.title, stately = false } = options;
    if (!Number.isInteger(port) || port < 0 || port > HIGHEST_PORT)
      throw new ConfigError(`inspect: expected 'port' to be a whole number from 0 to ${HIGHEST_PORT}`);
    if (typeof title !== 'string') throw new ConfigError("inspect: expected 'title' to be a text");
    const [{ openInspectionServer }, { LiveSource }, { STATELY_VIEWER }] = await Promise.all([
      import('./server.js'),
      import('./live-source.js'),
      import('./stately-bridge.js'),
    ]);
    const viewer = viewerAddress(stately === true ? STATELY_VIEWER : stately);
    const { clock } = this.#parts;
    const source = new LiveSource({ ...this.#parts, title });
    const server = await openInspectionServer({ source, clock, port, viewer });
    if (this.#isClosed) {
      await server.close();
      throw new NotReadyError('The troupe is closed.');
    }
    this.#open.add(server);
    return {
      url: server.url,
      ...(server.statelyUrl !== undefined && { statelyUrl: server.statelyUrl }),
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

/** Undefined where none is wanted. */
function viewerAddress(viewer: string | false): URL | undefined {
  if (viewer === false) return undefined;
  const url = URL.canParse(viewer) ? new URL(viewer) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new ConfigError("inspect: expected 'stately' to be true, false or the address of a viewer");
}

/**
 * The folder `inspector` serves the page that shows a running troupe or a log, on this machine only. The page itself is
 * in `visualizer/`. This file owns the inspections of one troupe. The server is loaded with the first inspection.
 */
import type { Writable } from 'node:stream';
import { ConfigError } from '../errors.js';
import { closedError, type Lifetime } from '../lifecycle/lifetime.js';
import type { Inspection, InspectOptions } from './inspection.js';
import { unknownOption, type OptionNames } from '../text/option-names.js';
import type { LiveParts, LiveSource } from './live-source.js';
import type { InspectionServer } from './inspection-server.js';
import { parseUrl } from '../text/parse-url.js';

const HIGHEST_PORT = 65_535;
const DEFAULT_HISTORY = 32 * 1_024 * 1_024;
const LEAST_HISTORY = 1_024 * 1_024;

const NAMES: OptionNames<InspectOptions> = { port: true, title: true, history: true, stately: true };

export class Inspections {
  readonly #open = new Set<InspectionServer>();
  /** For viewers without commands. */
  #shown: LiveSource | undefined;
  readonly #lifetime: Pick<Lifetime, 'isClosed'>;
  readonly #parts: Omit<LiveParts, 'history' | 'isReadOnly'>;

  constructor(lifetime: Pick<Lifetime, 'isClosed'>, parts: Omit<LiveParts, 'history' | 'isReadOnly'>) {
    this.#lifetime = lifetime;
    this.#parts = parts;
  }

  /**
   * Rejects with a `ConfigError` for invalid options or an unavailable port, and with a `NotReadyError` once the troupe
   * is closed.
   */
  async begin(options: InspectOptions): Promise<Inspection> {
    if (typeof options !== 'object' || options === null)
      throw new ConfigError("inspect: expected the options to be an object, such as '{ port: 4400 }'");
    const unknown = unknownOption(options, NAMES);
    if (unknown !== undefined) throw new ConfigError(`inspect: ${unknown}`);
    const { port = 0, title = this.#parts.title, history = DEFAULT_HISTORY, stately = false } = options;
    if (!Number.isInteger(port) || port < 0 || port > HIGHEST_PORT)
      throw new ConfigError(`inspect: expected 'port' to be a whole number from 0 to ${HIGHEST_PORT}`);
    if (!isHistory(history))
      throw new ConfigError(
        `inspect: expected 'history' to be 0, or a whole number of at least ${LEAST_HISTORY} bytes`,
      );
    if (typeof title !== 'string') throw new ConfigError("inspect: expected 'title' to be a string");
    const [{ openInspectionServer }, { LiveSource }, { STATELY_VIEWER }] = await Promise.all([
      import('./inspection-server.js'),
      import('./live-source.js'),
      import('./stately-bridge.js'),
    ]);
    const viewer = viewerAddress(stately === true ? STATELY_VIEWER : stately);
    const { clock } = this.#parts;
    const source = new LiveSource({ ...this.#parts, title, history, isReadOnly: false });
    const server = await openInspectionServer({ source, clock, port, viewer });
    this.#open.add(server);
    await source.open();
    if (this.#lifetime.isClosed) {
      this.#open.delete(server);
      await server.close();
      throw closedError();
    }
    return {
      url: server.url,
      ...(server.statelyUrl !== undefined && { statelyUrl: server.statelyUrl }),
      close: async () => {
        this.#open.delete(server);
        await server.close();
      },
    };
  }

  /** Shows what happens from now on, without commands, to a viewer that has come by another way than a page of this machine. */
  async watch(viewer: Writable): Promise<void> {
    const { LiveSource } = await import('./live-source.js');
    if (this.#lifetime.isClosed || viewer.destroyed) return void viewer.end();
    this.#shown ??= new LiveSource({ ...this.#parts, history: 0, isReadOnly: true });
    this.#shown.watch(viewer);
  }

  /** Ends all inspections. */
  async close(): Promise<void> {
    const why = 'The troupe was closed.';
    await Promise.all([this.#shown?.close(why), ...[...this.#open].map((server) => server.close(why))]);
  }
}

function isHistory(history: unknown): boolean {
  return history === 0 || (Number.isSafeInteger(history) && Number(history) >= LEAST_HISTORY);
}

/** Undefined if no viewer is wanted. */
function viewerAddress(viewer: string | false): URL | undefined {
  if (viewer === false) return undefined;
  const url = parseUrl(viewer);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new ConfigError("inspect: expected 'stately' to be true, false or the address of a viewer");
}

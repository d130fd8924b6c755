/** The page of all hosts of a fleet. The server is loaded with the first inspection. */
import type { Fleet } from '../fleet/stores.js';
import { systemClock } from '../ports.js';
import { requireKnown, type OptionNames } from '../text/option-names.js';
import type { Inspection } from './inspection.js';

/** Options of `inspectFleet`. */
export interface InspectFleetOptions {
  /** The fleet, with the key of its hosts. The process that inspects it need not be one of them. */
  readonly fleet: Fleet;
  /** Port on 127.0.0.1 for the page. Default: any free port. */
  readonly port?: number;
  /** Title of the page. Default `Fleet`. */
  readonly title?: string;
}

const NAMES: OptionNames<InspectFleetOptions> = { fleet: true, port: true, title: true };

/**
 * Serves a page with all hosts of a fleet and a row for each of their servers. A host opens as its own live page, which takes no
 * commands. Hosts send what the page shows only while it is open.
 *
 * @param options The fleet, and where the page is served.
 *
 * @throws `TypeError` for an option that does not exist.
 * @throws {@link ConfigError} if the port is not available.
 *
 * @example
 * ```ts
 * import { inspectFleet } from 'mcp-troupe';
 * import { createFleet } from 'mcp-troupe/fleet';
 * import { createRedisEngine } from 'mcp-troupe/fleet-redis';
 *
 * const engine = createRedisEngine({ address: 'redis://redis.example.com' });
 * const inspection = await inspectFleet({ fleet: createFleet({ engine }) });
 * console.log(inspection.url);
 * // At the end:
 * await inspection.close();
 * await engine.close();
 * ```
 */
export async function inspectFleet(options: InspectFleetOptions): Promise<Inspection> {
  requireKnown('inspectFleet', options, NAMES);
  const { fleet, port = 0, title = 'Fleet' } = options;
  const [{ openInspectionServer }, { FleetSource }] = await Promise.all([
    import('./inspection-server.js'),
    import('./fleet-source.js'),
  ]);
  const clock = systemClock;
  const source = new FleetSource({ fleet, clock, title });
  const server = await openInspectionServer({ source, clock, port });
  return { url: server.url, close: () => server.close() };
}

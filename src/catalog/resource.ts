/** Resources and resource templates as a host sees them. */
import type { Annotations, Resource } from '../mcp/content.js';
import type { ResourceTemplate } from '../mcp/server-offers.js';
import type { Shown } from './live-list.js';
import { matchesSegments } from '../text/matches-segments.js';

/** One resource that a server lists. */
export interface CatalogResource {
  /** Unique within its server. */
  readonly uri: string;
  /** Name of the server in the configuration. */
  readonly server: string;
  /** The file, or `options`, that names the server. */
  readonly source: string;
  /** The server's own name for it. */
  readonly name: string;
  /** Title for people. Absent if the server gives none. */
  readonly title?: string;
  /** The server's description. Absent if it gives none. */
  readonly description?: string;
  /** MIME type of the content. Absent if the server gives none. */
  readonly mimeType?: string;
  /** Size in bytes. Absent if the server gives none. */
  readonly size?: number;
  /** The server's hints about audience, priority and age. Absent if it gives none. */
  readonly annotations?: Annotations;
  /** True while its connection is away; a request then waits for it or says why it cannot. */
  readonly stale: boolean;
}

/** A pattern of resources that a server can give (RFC 6570). */
export interface CatalogResourceTemplate extends Omit<CatalogResource, 'uri' | 'size'> {
  /** Unique within its server. */
  readonly uriTemplate: string;
}

/** The only resource with that URI, of any server or of the named one; undefined if there is none, or more than one. */
export function resourceIn(
  resources: readonly CatalogResource[],
  uri: string,
  server: string | undefined,
): CatalogResource | undefined {
  const found = resources.filter(
    (resource) => resource.uri === uri && (server === undefined || resource.server === server),
  );
  return found.length === 1 ? found[0] : undefined;
}

export function toCatalogResource(shown: Shown<Resource>): CatalogResource {
  const { uri, size } = shown.definition;
  return { uri, ...common(shown), ...(size === undefined ? {} : { size }) };
}

export function toCatalogResourceTemplate(shown: Shown<ResourceTemplate>): CatalogResourceTemplate {
  return { uriTemplate: shown.definition.uriTemplate, ...common(shown) };
}

function common({
  server,
  source,
  stale,
  definition,
}: Shown<Resource | ResourceTemplate>): Omit<CatalogResource, 'uri' | 'size'> {
  const { name, title, description, mimeType, annotations } = definition;
  return {
    server,
    source,
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(mimeType === undefined ? {} : { mimeType }),
    ...(annotations === undefined ? {} : { annotations }),
    stale,
  };
}

/** Whether a URI may be an expansion of the template (RFC 6570). Never true for a template without variables. */
export function fitsTemplate(uri: string, uriTemplate: string): boolean {
  const pieces = uriTemplate.split(/\{[^{}]*\}/u);
  return pieces.length > 1 && matchesSegments(uri, pieces);
}

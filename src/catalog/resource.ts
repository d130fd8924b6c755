/** Resources and resource templates as a host sees them. */
import type { Annotations, Resource, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js';
import type { Shown } from './live-list.js';

/** One resource that a server lists. */
export interface CatalogResource {
  /** Unique within its server. */
  readonly uri: string;
  readonly server: string;
  /** The file, or `options`, that names the server. */
  readonly source: string;
  /** The server's own name for it. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  /** Bytes, as far as the server says. */
  readonly size?: number;
  readonly annotations?: Annotations;
  /** Its connection is away at the moment; a request waits for it or says why not. */
  readonly stale: boolean;
}

/** A pattern of resources that a server can give (RFC 6570). */
export interface CatalogResourceTemplate extends Omit<CatalogResource, 'uri' | 'size'> {
  /** Unique within its server. */
  readonly uriTemplate: string;
}

/** The only one of that URI, or that of a server; undefined where there is none, or more than one. */
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

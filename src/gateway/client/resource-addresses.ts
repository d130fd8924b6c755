/**
 * The addresses under which a client sees the resources of all servers.
 *
 * A URI that one server offers stays as it is. If several servers offer the same URI, each of them is listed under a URI
 * with the name of the server before the scheme, as in `git+ssh:`. For example, `file:///rules.md` of the server `south`
 * becomes `south+file:///rules.md`. A qualified URI is accepted even if only one server offers the URI.
 */
import type { Resource } from '../../mcp/content.js';
import type { ResourceTemplate } from '../../mcp/server-offers.js';
import { fitsTemplate } from '../../catalog/resource.js';
import { isJsonObject, type JsonObject } from '../../json/json-object.js';
import type { ServerOffer } from '../../runtime/internals.js';

/** A resource by the URI that its server uses. */
export interface ServerResource {
  readonly server: string;
  readonly uri: string;
}

/** The offer of one server, from which the lists are made. */
export type Share = readonly [server: string, offer: ServerOffer];

export class ResourceAddresses {
  readonly resources: readonly Resource[];
  readonly resourceTemplates: readonly ResourceTemplate[];
  readonly #shares: readonly Share[];
  /** The servers, by URI and by URI template. */
  readonly #listed = new Map<string, Set<string>>();
  readonly #prefixes: ReadonlyMap<string, string>;

  constructor(shares: readonly Share[]) {
    this.#shares = shares;
    this.#prefixes = prefixesOf(shares.map(([server]) => server));
    for (const [server, { resources, resourceTemplates }] of shares) {
      for (const { uri } of resources) this.#list(uri, server);
      for (const { uriTemplate } of resourceTemplates) this.#list(uriTemplate, server);
    }
    this.resources = shares.flatMap(([server, offer]) =>
      offer.resources.map((resource) => {
        const uri = this.addressOf({ server, uri: resource.uri });
        return uri === resource.uri ? resource : { ...resource, uri };
      }),
    );
    this.resourceTemplates = shares.flatMap(([server, offer]) =>
      offer.resourceTemplates.map((template) => {
        const uriTemplate = this.addressOf({ server, uri: template.uriTemplate });
        return uriTemplate === template.uriTemplate ? template : { ...template, uriTemplate };
      }),
    );
  }

  /** The URI that leads a client to that resource, or to that template, of that server. */
  addressOf({ server, uri }: ServerResource): string {
    const isShared = this.#offering(uri).some((other) => other !== server);
    return isShared ? this.qualified({ server, uri }) : uri;
  }

  qualified({ server, uri }: ServerResource): string {
    return `${this.#prefixes.get(server) ?? ''}${uri}`;
  }

  /** The resources, or templates, that a client may mean with this URI. If there are several, the URI must be qualified. */
  find(uri: string): readonly ServerResource[] {
    const listed = this.#listed.get(uri);
    if (listed !== undefined) return [...listed].map((server) => ({ server, uri }));
    for (const [server, prefix] of this.#prefixes) {
      const own = uri.startsWith(prefix) ? uri.slice(prefix.length) : undefined;
      if (own !== undefined && this.#offering(own).includes(server)) return [{ server, uri: own }];
    }
    return this.#offering(uri).map((server) => ({ server, uri }));
  }

  /** The answer of that server, with each resource URI replaced by the address under which this client finds it. */
  addressed(server: string, answer: JsonObject): JsonObject {
    const change = (value: unknown): unknown => {
      if (Array.isArray(value)) return mapChanged(value, change);
      if (!isJsonObject(value)) return value;
      const { uri, resource, content } = value;
      const changes = {
        ...(typeof uri === 'string' && { uri: this.addressOf({ server, uri }) }),
        ...(isJsonObject(resource) && { resource: change(resource) }),
        ...((Array.isArray(content) || isJsonObject(content)) && { content: change(content) }),
      };
      const isSame = Object.entries(changes).every(([key, changed]) => value[key] === changed);
      return isSame ? value : { ...value, ...changes };
    };
    const parts = ['content', 'contents', 'messages'].filter((key) => Array.isArray(answer[key]));
    const changed = parts.map((key) => [key, change(answer[key])] as const);
    const isSame = changed.every(([key, value]) => answer[key] === value);
    return isSame ? answer : { ...answer, ...Object.fromEntries(changed) };
  }

  /** Servers that list it, else those with a template that fits it. */
  #offering(uri: string): readonly string[] {
    const listed = this.#listed.get(uri);
    if (listed !== undefined) return [...listed];
    const fitting = this.#shares.filter(([, { resourceTemplates }]) =>
      resourceTemplates.some(({ uriTemplate }) => fitsTemplate(uri, uriTemplate)),
    );
    return fitting.map(([server]) => server);
  }

  #list(address: string, server: string): void {
    const servers = this.#listed.get(address);
    if (servers === undefined) this.#listed.set(address, new Set([server]));
    else servers.add(server);
  }
}

/** A unique prefix for each server: a scheme holds letters, digits, `+`, `-` and `.` (RFC 3986, section 3.1). */
function prefixesOf(servers: readonly string[]): ReadonlyMap<string, string> {
  const prefixes = new Map<string, string>();
  const taken = new Set<string>();
  for (const server of servers) {
    const letters = server.toLowerCase().replace(/[^a-z0-9.-]+/gu, '-');
    const scheme = /^[a-z]/u.test(letters) ? letters : `server-${letters}`;
    let unique = scheme;
    for (let count = 2; taken.has(unique); count += 1) unique = `${scheme}-${count}`;
    taken.add(unique);
    prefixes.set(server, `${unique}+`);
  }
  return prefixes;
}

/** The same array, if nothing in it changes. */
function mapChanged(values: readonly unknown[], change: (value: unknown) => unknown): readonly unknown[] {
  const changed = values.map(change);
  return changed.some((value, index) => value !== values[index]) ? changed : values;
}

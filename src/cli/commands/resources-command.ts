/** `troupe resources`: the resources and resource templates of the servers. */
import type { CatalogResource, CatalogResourceTemplate } from '../../catalog/resource.js';
import type { Flags } from '../arguments/flags.js';
import type { ExitCode } from '../exit.js';
import { type Colors, nameOf, oneLine, type Terminal } from '../output/terminal.js';
import { countOf } from '../output/duration.js';
import { listOffers, type ListTarget } from '../with-servers.js';

/** As `listOffers`. */
export function resources(flags: Flags, terminal: Terminal, target: ListTarget): Promise<ExitCode> {
  return listOffers(flags, terminal, target, (troupe, usable) => {
    const isShown = ({ server }: { readonly server: string }): boolean => usable.includes(server);
    const listed = troupe.resources.filter(isShown);
    const templates = troupe.resourceTemplates.filter(isShown);
    if (flags.json)
      terminal.printJson('resources', {
        resources: listed.map(toJson),
        resourceTemplates: templates.map(toTemplateJson),
      });
    else if (usable.length > 0) terminal.print(render(usable, listed, templates, terminal.colors));
  });
}

// The documented JSON. Every field is present; a value that a server does not state is null.

function toJson({ uri, size, ...rest }: CatalogResource) {
  return { uri, ...commonJson(rest), size: size ?? null };
}

function toTemplateJson({ uriTemplate, ...rest }: CatalogResourceTemplate) {
  return { uriTemplate, ...commonJson(rest) };
}

function commonJson({
  server,
  name,
  title,
  description,
  mimeType,
  annotations,
}: Omit<CatalogResource, 'uri' | 'size'>) {
  return {
    server,
    name,
    title: title ?? null,
    description: description ?? null,
    mimeType: mimeType ?? null,
    annotations: annotations ?? null,
  };
}

/** Every requested server has its group, even an empty one. */
function render(
  servers: readonly string[],
  resources: readonly CatalogResource[],
  templates: readonly CatalogResourceTemplate[],
  colors: Colors,
): string {
  return servers
    .map((server) => {
      const own = resources.filter((each) => each.server === server);
      const patterns = templates.filter((each) => each.server === server);
      const counts = [
        countOf(own.length, 'resource'),
        ...(patterns.length > 0 ? [countOf(patterns.length, 'template')] : []),
      ];
      return [
        `${colors.bold(nameOf(server))} ${colors.dim(`(${counts.join(', ')})`)}`,
        ...own.flatMap((each) => lines(each.uri, each, colors)),
        ...patterns.flatMap((each) => lines(each.uriTemplate, each, colors)),
      ].join('\n');
    })
    .join('\n\n');
}

function lines(
  uri: string,
  { name, title, description, mimeType }: Omit<CatalogResource, 'uri' | 'size'>,
  colors: Colors,
): string[] {
  const type = mimeType === undefined ? '' : colors.dim(`  ${oneLine(mimeType)}`);
  const text = oneLine(description ?? title ?? name);
  return [`  ${colors.cyan(oneLine(uri))}${type}`, ...(text === '' ? [] : [`      ${colors.dim(text)}`])];
}

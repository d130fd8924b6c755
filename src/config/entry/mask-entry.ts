/**
 * Makes an entry safe to show: secrets in env, headers and the address are masked. Names stay, and so do references to
 * variables, since they say where a value comes from. Command and arguments are shown as written, except for the
 * defaults of variables in arguments; `shownConfig` in `src/secrets` masks the secrets in them as well.
 */
import { isLocalSocket } from './local-socket.js';
import type { ServerConfig } from './server-config.js';
import { MASK } from './mask.js';
import { mapTexts, type TextField } from './entry-texts.js';
import { parseTemplate, variablesIn, type Part, type TemplateSyntax, type Variable } from './template.js';

/** Plain JSON; a server object of this process is left out. */
export function maskConfig(config: ServerConfig): Readonly<Record<string, unknown>> {
  const { server: _, ...shown } = { server: undefined, ...mapTexts(config, maskField) };
  return shown;
}

/** Masks credentials, values of the query, the fragment, and every default of a variable. */
export function maskUrl(text: string): string {
  return maskUrlParts(written(parseTemplate(text, 'plain')));
}

/** Masks credentials, values of the query, and the fragment, unless it is the request path for a socket. Ignores variables. */
export function maskUrlParts(text: string): string {
  const [, address = '', query, fragment] = /^([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(text) ?? [];
  return [
    address.replaceAll(/[^/\\]+/g, maskUser),
    query === undefined ? '' : `?${query.split('&').map(maskPair).join('&')}`,
    fragment === undefined ? '' : `#${isLocalSocket(address) ? maskUrlParts(fragment) : MASK}`,
  ].join('');
}

function maskField(text: string, { path: [field, key], syntax }: TextField): string {
  if (field === 'url' || field === 'proxy') return maskUrl(text);
  if (field === 'args') return maskDefaults(text, syntax);
  return field === 'env' || field === 'headers' || key === 'clientSecret' ? maskText(text) : text;
}

/** An argument is shown as written, except for a default that could be a secret. */
function maskDefaults(text: string, syntax: TemplateSyntax): string {
  const parts = parseTemplate(text, syntax);
  return variablesIn(parts).some(({ fallback }) => fallback !== undefined) ? written(parts) : text;
}

/** `Bearer ${TOKEN}` becomes `***${TOKEN}`. */
function maskText(text: string): string {
  const shown = parseTemplate(text, 'plain').map((part) => (part.kind === 'text' ? MASK : toReference(part)));
  return shown.filter((piece, index) => piece !== MASK || shown[index - 1] !== MASK).join('');
}

function written(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === 'text' ? part.text : toReference(part))).join('');
}

function toReference(variable: Variable): string {
  return `\${${variable.name}${variable.fallback === undefined ? '' : `:-${MASK}`}}`;
}

function maskUser(segment: string): string {
  const at = segment.lastIndexOf('@');
  return at > 0 ? `${MASK}${segment.slice(at)}` : segment;
}

function maskPair(pair: string): string {
  const equals = pair.indexOf('=');
  return equals === -1 ? MASK : `${pair.slice(0, equals)}=${MASK}`;
}

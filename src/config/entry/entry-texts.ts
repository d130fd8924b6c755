/**
 * Which fields of an entry are templates, and under which rules. Expansion, validation, listing and masking all use
 * this walk, so that they cannot disagree.
 */
import type { ServerConfig } from './server-config.js';
import { isLocalSocket, parseLocalSocket } from './local-socket.js';
import type { Path } from './problem.js';

export interface TextField {
  readonly path: Path;
  /** `$NAME` is a reference, and a leading `~` is the home folder: the field is read like a command line. */
  readonly shellLike: boolean;
}

export type Rewrite = (text: string, field: TextField) => string;

/**
 * The entry with every template rewritten and everything else unchanged. The `env` of an HTTP entry comes first,
 * because its other texts may refer to it.
 */
export function mapTexts(config: ServerConfig, rewrite: Rewrite): ServerConfig {
  if ('command' in config) {
    return {
      ...config,
      command: rewrite(config.command, { path: ['command'], shellLike: true }),
      ...(config.args !== undefined && {
        args: config.args.map((arg, index) => rewrite(arg, { path: ['args', index], shellLike: true })),
      }),
      ...(config.env !== undefined && { env: mapValues('env', config.env, rewrite) }),
      ...(config.cwd !== undefined && { cwd: rewrite(config.cwd, { path: ['cwd'], shellLike: true }) }),
    };
  }
  if ('url' in config) {
    return {
      ...config,
      ...(config.env !== undefined && { env: mapValues('env', config.env, rewrite) }),
      url: rewrite(config.url, { path: ['url'], shellLike: false }),
      ...(config.headers !== undefined && { headers: mapValues('headers', config.headers, rewrite) }),
      ...(typeof config.proxy === 'string' && {
        proxy: rewrite(config.proxy, { path: ['proxy'], shellLike: false }),
      }),
      ...(config.ca !== undefined && { ca: mapFiles(config.ca, rewrite) }),
      ...(config.cert !== undefined && { cert: rewrite(config.cert, { path: ['cert'], shellLike: true }) }),
      ...(config.key !== undefined && { key: rewrite(config.key, { path: ['key'], shellLike: true }) }),
    };
  }
  return config;
}

function mapFiles(files: string | readonly string[], rewrite: Rewrite): string | readonly string[] {
  if (typeof files === 'string') return rewrite(files, { path: ['ca'], shellLike: true });
  return files.map((file, index) => rewrite(file, { path: ['ca', index], shellLike: true }));
}

function mapValues(
  field: string,
  values: Readonly<Record<string, string>>,
  rewrite: Rewrite,
): Readonly<Record<string, string>> {
  const entries = Object.entries(values);
  return Object.fromEntries(
    entries.map(([key, text]) => [key, rewrite(text, { path: [field, key], shellLike: false })]),
  );
}

// Checks the address and the headers of a server. Pure. The messages contain no part of the value.

/** Why an address cannot be used; undefined if it can. No credentials, since they would be shown and logged. */
export function urlProblem(url: string): string | undefined {
  if (isLocalSocket(url)) {
    return parseLocalSocket(url) === undefined
      ? 'must have the path of a socket after three slashes, such as unix:///run/server.sock#/mcp'
      : undefined;
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) return 'is not a complete address such as https://example.com/mcp';
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    return 'must begin with http://, https://, unix:/// or pipe:///';
  }
  if (parsed.username !== '' || parsed.password !== '') {
    return "must not hold a user name or password; use 'headers' with Authorization";
  }
  return undefined;
}

/** Why a text cannot be the value of a header (RFC 9110 section 5.5); undefined if it can. */
export function headerValueProblem(value: string): string | undefined {
  if (/[\r\n]/.test(value)) return 'must not contain a line break';
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) return 'contains a character that a header cannot carry';
  return undefined;
}

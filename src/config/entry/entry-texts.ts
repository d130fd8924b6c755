/**
 * Which fields of an entry are templates, and under which rules. Expansion, validation, listing and masking all use
 * this walk, so that they cannot disagree.
 */
import type { ServerConfig } from './server-config.js';
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
    };
  }
  return config;
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

/** Why an address cannot be used; undefined if it can. Only http and https, and no credentials (`fetch` refuses them). */
export function urlProblem(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) return 'is not a complete address such as https://example.com/mcp';
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    return 'must begin with http:// or https://';
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

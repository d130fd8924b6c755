/**
 * Which fields of an entry are templates, and under which rules. Expansion, validation, listing and masking all use
 * this walk, so that they cannot disagree.
 */
import type { ConfigProblemCode } from '../../errors.js';
import type { ServerConfig } from './server-config.js';
import { isLocalSocket, parseLocalSocket } from './local-socket.js';
import { codeWords } from './code-arguments.js';
import type { Path } from './problem.js';
import type { TemplateSyntax } from './template.js';
import { parseUrl } from '../../text/parse-url.js';

export interface TextField {
  readonly path: Path;
  /** Which references it can contain. In a field that is read like a command line, a leading `~` is the home folder. */
  readonly syntax: TemplateSyntax;
  /**
   * What it means by the folder in which the entry starts: a relative `path` starts there, `shell` code runs there, and a
   * relative `path-by-file` starts there unless it exists in the folder of the configuration file. Default: nothing, or by way
   * of `cwd`.
   */
  readonly startsIn?: 'path' | 'path-by-file' | 'shell';
}

export type Rewrite = (text: string, field: TextField) => string;

/**
 * The entry with every template rewritten and everything else unchanged. `env` comes first, because the other texts may
 * refer to it.
 */
export function mapTexts(config: ServerConfig, rewrite: Rewrite): ServerConfig {
  if ('command' in config) {
    const { command, args, env, envFile, cwd } = config;
    const code = codeWords([command, ...(args ?? [])]);
    const syntaxOf = (index: number): TemplateSyntax => (code.has(index + 1) ? 'code' : 'command-line');
    return {
      ...config,
      ...(env !== undefined && { env: mapValues('env', env, rewrite) }),
      command: rewrite(command, { path: ['command'], syntax: 'command-line' }),
      ...(args !== undefined && {
        args: args.map((arg, index) => rewrite(arg, { path: ['args', index], syntax: syntaxOf(index) })),
      }),
      ...(envFile !== undefined && {
        envFile: rewrite(envFile, {
          path: ['envFile'],
          syntax: 'command-line',
          startsIn: 'path-by-file',
        }),
      }),
      ...(cwd !== undefined && { cwd: rewrite(cwd, pathField('cwd')) }),
    };
  }
  if ('url' in config) {
    const { url, headers, headersHelper, env, oauth, proxy, ca, cert, key } = config;
    return {
      ...config,
      ...(env !== undefined && { env: mapValues('env', env, rewrite) }),
      url: rewrite(url, { path: ['url'], syntax: 'plain' }),
      ...(headers !== undefined && { headers: mapValues('headers', headers, rewrite) }),
      ...(headersHelper !== undefined && {
        headersHelper: rewrite(headersHelper, {
          path: ['headersHelper'],
          syntax: 'code',
          startsIn: 'shell',
        }),
      }),
      ...(oauth !== undefined && oauth !== false && { oauth: mapValues('oauth', oauth, rewrite) }),
      ...(typeof proxy === 'string' && { proxy: rewrite(proxy, { path: ['proxy'], syntax: 'plain' }) }),
      ...(ca !== undefined && { ca: mapFiles(ca, rewrite) }),
      ...(cert !== undefined && { cert: rewrite(cert, pathField('cert')) }),
      ...(key !== undefined && { key: rewrite(key, pathField('key')) }),
    };
  }
  return config;
}

function mapFiles(files: string | readonly string[], rewrite: Rewrite): string | readonly string[] {
  if (typeof files === 'string') return rewrite(files, pathField('ca'));
  return files.map((file, index) => rewrite(file, pathField('ca', index)));
}

function pathField(...path: Path): TextField {
  return { path, syntax: 'command-line', startsIn: 'path' };
}

function mapValues<T extends object>(field: string, values: T, rewrite: Rewrite): T {
  const entries = Object.entries(values).map(([key, value]: [string, unknown]) => [
    key,
    typeof value === 'string' ? rewrite(value, { path: [field, key], syntax: 'plain' }) : value,
  ]);
  return Object.fromEntries(entries) as T;
}

// Checks the address and the headers of a server. Pure. The messages contain no part of the value.

/** Why a text cannot be used, without any part of it. */
export interface TextProblem {
  readonly code: ConfigProblemCode;
  readonly message: string;
}

/** Why an address cannot be used; undefined if it can. No credentials, since they would be shown and logged. */
export function urlProblem(url: string): TextProblem | undefined {
  if (isLocalSocket(url)) {
    return parseLocalSocket(url) === undefined
      ? invalidUrl('must have the path of a socket after three slashes, such as unix:///run/server.sock#/mcp')
      : undefined;
  }
  const parsed = parseUrl(url);
  if (parsed === undefined) return invalidUrl('is not a complete address such as https://example.com/mcp');
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    return invalidUrl('must begin with http://, https://, unix:/// or pipe:///');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    const message = "must not hold a user name or password; use 'headers' with Authorization";
    return { code: 'credentials-in-url', message };
  }
  return undefined;
}

function invalidUrl(message: string): TextProblem {
  return { code: 'invalid-url', message };
}

/** Why a text cannot be the value of a header (RFC 9110 section 5.5); undefined if it can. */
export function headerValueProblem(value: string): TextProblem | undefined {
  if (/[\r\n]/.test(value)) return { code: 'invalid-header', message: 'must not contain a line break' };
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
    return { code: 'invalid-header', message: 'contains a character that a header cannot carry' };
  return undefined;
}

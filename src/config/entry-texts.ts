/**
 * Which fields of an entry are templates, and under which rules. Whoever expands, checks, lists or masks them
 * walks here, so that no two of them can disagree.
 */
import type { ServerConfig } from '../options.js';
import type { Path } from './problem.js';

export interface TextField {
  readonly path: Path;
  /** `$NAME` counts as a reference, and a leading `~` as the home folder: the field is read like a command line. */
  readonly shellLike: boolean;
}

export type Rewrite = (text: string, field: TextField) => string;

/**
 * The entry with every template rewritten; everything else is left as it is. The `env` of an HTTP entry comes first,
 * since its other texts may refer to it.
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

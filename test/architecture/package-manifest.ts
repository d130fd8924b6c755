import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../tools/import-graph.mjs';

interface Entry {
  readonly types: string;
  readonly default: string;
}

export interface EntryConditions {
  readonly import: Entry;
  readonly 'module-sync': Entry;
  readonly module: string;
  readonly bun: string;
  /** Absent for what is published once, as modules. */
  readonly require?: Entry;
  readonly default: string | Entry;
}

export interface PackageManifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | EntryConditions>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
}

/** The package.json of the project. */
export function packageManifest(): PackageManifest {
  return JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as PackageManifest;
}

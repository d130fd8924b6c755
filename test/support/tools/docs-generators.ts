/**
 * The generators of the reference pages. They are plain JavaScript, so their types are declared here.
 */
import type { EntryField } from '../../../src/config/entry/entry-fields.js';

export interface ReadMember {
  readonly name: string;
  readonly isOptional: boolean;
  readonly type: string;
  readonly value: string;
  readonly doc: string;
  readonly members: () => readonly ReadMember[];
}

export interface ReadDeclaration {
  readonly kind: string;
  readonly name: string;
  readonly isExported: boolean;
  readonly isAbstract: boolean;
  readonly parent: string | null;
  readonly doc: string;
  readonly type: string;
  readonly members: readonly ReadMember[];
  readonly variants: () => readonly {
    readonly doc: string;
    readonly members: readonly ReadMember[];
    readonly references: readonly string[];
  }[];
}

interface Pages {
  readonly optionsPage: (
    sources: { options: string; policy: string; gateway: readonly string[] },
    defaultPolicy: object,
    entryFields: Readonly<Record<string, EntryField>>,
  ) => string;
  readonly errorsPage: (
    sources: { errors: string; failure: string },
    policy: { codes: readonly string[]; classify: (failure: never) => string },
  ) => string;
  readonly eventsPage: (source: string) => string;
  readonly statusPage: (sources: { status: string; details: string; states: string }) => string;
  readonly DIAGNOSTIC_KINDS: Readonly<
    Record<string, { readonly severity: string; readonly meaning: string; readonly action: string }>
  >;
  readonly publishedKinds: (source: string) => ReadonlySet<string>;
  readonly readDeclarations: (source: string) => ReadonlyMap<string, ReadDeclaration>;
}

const load = (name: string): Promise<Partial<Pages>> =>
  import(new URL(`../../../docs/generate/${name}.mjs`, import.meta.url).href) as Promise<Partial<Pages>>;

export const {
  readDeclarations,
  optionsPage,
  errorsPage,
  eventsPage,
  statusPage,
  DIAGNOSTIC_KINDS,
  publishedKinds,
} = Object.assign(
  {},
  ...(await Promise.all(
    ['source-reader', 'options-page', 'errors-page', 'events-page', 'status-page', 'diagnostic-kinds'].map(
      load,
    ),
  )),
) as Pages;

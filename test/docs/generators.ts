/**
 * The generators of the reference pages. They are plain modules, so their types are said here.
 */
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
  ) => string;
  readonly errorsPage: (
    sources: { errors: string; failure: string },
    policy: { codes: readonly string[]; classify: (failure: never) => string },
  ) => string;
  readonly eventsPage: (source: string) => string;
  readonly readDeclarations: (source: string) => ReadonlyMap<string, ReadDeclaration>;
}

const load = (name: string): Promise<Partial<Pages>> =>
  import(new URL(`../../docs/generate/${name}.mjs`, import.meta.url).href) as Promise<Partial<Pages>>;

export const { readDeclarations, optionsPage, errorsPage, eventsPage } = Object.assign(
  {},
  ...(await Promise.all(['source-reader', 'options-page', 'errors-page', 'events-page'].map(load))),
) as Pages;

/** The bytes of a seed. */
export function bytesOf(seed: number): Buffer;
/** What each parser does with bytes; `load` loads a source by its path in the project. */
export function parsersFrom(
  load: (path: string) => Promise<Record<string, unknown>>,
): Promise<Readonly<Record<string, (bytes: Buffer) => unknown>>>;

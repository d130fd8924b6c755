/**
 * An address as `URL` reads it; undefined if it is none. `URL.canParse` is no answer to that: Node 24 says yes to some
 * addresses that its `URL` throws for, such as one with a very long host.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

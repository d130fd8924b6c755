/** Parses a text. Undefined if it is not JSON; no JSON text means undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * A JSON value from a server, before it is checked.
 *
 * The folder `json` holds helpers for plain JSON values: reading, comparing, measuring and freezing them. They know nothing
 * of MCP.
 */

/** A JSON object with unknown fields. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

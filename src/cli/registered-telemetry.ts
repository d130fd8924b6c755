/**
 * Telemetry of a process in which an OpenTelemetry SDK was registered, as with
 * `NODE_OPTIONS='--import @opentelemetry/auto-instrumentations-node/register'`.
 */
import { messageOf } from '../text/error-message.js';
import type { Telemetry } from '../telemetry/telemetry.js';

/** Where `@opentelemetry/api` 1.x keeps what is registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Loads nothing without an SDK. `failed` learns why spans and metrics are missing. */
export async function registeredTelemetry(failed: (why: string) => void): Promise<Telemetry | undefined> {
  const registered = (globalThis as { readonly [REGISTERED]?: object })[REGISTERED];
  if (registered === undefined || !('trace' in registered || 'metrics' in registered)) return undefined;
  try {
    const { openTelemetry } = await import('../adapters/opentelemetry.js');
    return openTelemetry();
  } catch (error) {
    const way = "install '@opentelemetry/api' beside mcp-troupe";
    failed(`OpenTelemetry is registered but cannot be used (${way}): ${messageOf(error)}`);
    return undefined;
  }
}

/** Reports the requests of clients, and those to them. */
import { NEW_VERSION } from '../../../machines/policy/protocol-era.js';
import type { JsonObject } from '../../json/json-object.js';
import { nameIn, observe, observeSent } from '../../telemetry/observe-request.js';
import type { SessionFacts, Telemetry } from '../../telemetry/telemetry.js';
import type { ClientRequest } from './client-request.js';
import { versionIn } from './envelope.js';

const OVER_HTTP: SessionFacts['network'] = { transport: 'tcp', protocol: 'http' };

export class ClientTelemetry {
  constructor(private readonly telemetry: Telemetry) {}

  /** `version` is the one of the session; undefined without one. */
  answer(
    request: Pick<ClientRequest, 'id' | 'method' | 'params' | 'headers'>,
    version: string | undefined,
    answer: () => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const { telemetry } = this;
    if (!telemetry.isObserved) return answer();
    const { method, params, headers } = request;
    const operation = {
      method,
      name: nameIn(method, params),
      isAwaited: true,
      protocolVersion: versionIn(params) === NEW_VERSION ? NEW_VERSION : version,
      network: headers === undefined ? {} : OVER_HTTP,
    };
    return observe(telemetry.received(operation, params['_meta']), answer, () => request.id);
  }

  ask(
    method: string,
    params: JsonObject,
    version: string | undefined,
    send: (params: JsonObject) => Promise<JsonObject>,
  ): Promise<JsonObject> {
    const { telemetry } = this;
    if (!telemetry.isObserved) return send(params);
    const asked = telemetry.sent({ method, isAwaited: true, protocolVersion: version, network: {} });
    return observeSent(asked, params, send);
  }

  /** `beganAt` as `performance.now()`. */
  sessionEnded(version: string | undefined, beganAt: number): void {
    const { telemetry } = this;
    if (telemetry.isObserved)
      telemetry.sessionEnded(
        'server',
        { protocolVersion: version, network: {} },
        performance.now() - beganAt,
        undefined,
      );
  }
}

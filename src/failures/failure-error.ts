/** Turns a failure record into the error class a caller can catch. */
import { classify, type Failure } from '../../machines/policy/failure.js';
import {
  AuthRequiredError,
  ConfigError,
  ConnectionLostError,
  HandshakeError,
  LaunchError,
  TrustRequiredError,
  type TroupeError,
} from '../errors.js';

export function failureError(failure: Failure, server: string): TroupeError {
  const options = { server };
  if (classify(failure) === 'authorize') return new AuthRequiredError(failure, options);
  if (failure.code === 'trust-denied') return new TrustRequiredError(failure.message, options);
  switch (failure.phase) {
    case 'configure':
      return new ConfigError(failure.message, {
        ...options,
        problems: [{ code: 'unusable-entry', source: server, message: failure.message }],
      });
    case 'launch':
      return new LaunchError(failure, options);
    case 'handshake':
    case 'list':
      return new HandshakeError(failure, options);
    case 'session':
    case 'release':
      return new ConnectionLostError(failure, options);
  }
}

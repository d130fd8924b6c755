/**
 * Shapes of values as data: a subset of JSON Schema (2020-12), and the shapes that entries and options share. The
 * wording of a mismatch is in `read-shape.ts`.
 */
import type { RetryCalls } from '../../../machines/policy/call-safety.js';
import type { BackoffOptions, ConnectionPolicy } from '../../../machines/policy/policy.js';
import type { MessageLimits } from '../../json/parse-json.js';
import type { EntryOAuth } from './server-config.js';

/** The part of JSON Schema that `readShape` supports. `title` tells a person what was expected. */
export interface Schema {
  readonly title?: string;
  readonly type?: 'string' | 'boolean' | 'number' | 'integer' | 'array' | 'object';
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | false;
  readonly anyOf?: readonly Schema[];
}

/** The longest delay of a timer in Node: a longer one fires at once. */
const MAX_MS = 2_147_483_647;

export const FLAG: Schema = { type: 'boolean' };
export const TEXT: Schema = { type: 'string', pattern: '^[^\\u0000]*$', title: 'a string' };
export const SOME_TEXT: Schema = { ...TEXT, minLength: 1 };
export const TEXTS: Schema = { type: 'array', items: TEXT, title: 'a list of strings' };
export const DURATION: Schema = {
  type: 'number',
  minimum: 0,
  maximum: MAX_MS,
  title: `a number of milliseconds between 0 and ${MAX_MS}`,
};
const INTENSITY: Schema = subset({ restarts: { type: 'integer', minimum: 0 }, periodMs: DURATION });
/** In Troupe's spelling; `oauth-block.ts` converts the spellings of other hosts. */
export const OAUTH: Schema = {
  type: 'object',
  title: 'an object with a client for the sign-in, or false',
  properties: {
    clientId: SOME_TEXT,
    clientSecret: TEXT,
    scope: TEXT,
    account: { type: 'string', pattern: '^[^\\u0000-\\u001f\\u007f]+$', title: 'a name on one line' },
    callbackPort: { type: 'integer', minimum: 0, maximum: 65_535, title: 'a port between 0 and 65535' },
    redirectUrl: SOME_TEXT,
    metadataUrl: SOME_TEXT,
    authorizationUrl: SOME_TEXT,
    tokenUrl: SOME_TEXT,
  } satisfies Record<keyof EntryOAuth, Schema>,
};
export const RETRY_CALLS: Schema = {
  type: 'string',
  enum: ['safe', 'never'] satisfies readonly RetryCalls[],
  title: "'safe' or 'never'",
};

export const COUNT: Schema = { type: 'integer', minimum: 1 };
export const LIMITS = {
  stdioMessageBytes: COUNT,
  remoteMessageBytes: COUNT,
  structuralCharacters: COUNT,
  listEntries: COUNT,
  eventsPerSecond: COUNT,
} satisfies { readonly [K in keyof MessageLimits]-?: Schema };

const BACKOFF_KINDS = {
  exponential: {
    type: 'object',
    title: "{ kind: 'exponential', firstMs, factor, maxMs }",
    properties: {
      kind: { type: 'string', enum: ['exponential'] },
      firstMs: DURATION,
      factor: { type: 'number', minimum: 1 },
      maxMs: DURATION,
      jitter: { type: 'number', minimum: 0, maximum: 1 },
    },
    required: ['kind', 'firstMs', 'factor', 'maxMs'],
    additionalProperties: false,
  },
  fixed: {
    type: 'object',
    title: "{ kind: 'fixed', delaysMs }",
    properties: {
      kind: { type: 'string', enum: ['fixed'] },
      delaysMs: { type: 'array', items: DURATION, minItems: 1 },
    },
    required: ['kind', 'delaysMs'],
    additionalProperties: false,
  },
} satisfies Record<BackoffOptions['kind'], Schema>;

export const POLICY: Schema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    launchTimeoutMs: DURATION,
    handshakeTimeoutMs: DURATION,
    listTimeoutMs: DURATION,
    releaseTimeoutMs: DURATION,
    maxAttempts: { type: 'integer', minimum: 1 },
    maxAttemptsOnceReady: { type: 'integer', minimum: 1 },
    backoff: {
      anyOf: [
        { type: 'array', items: DURATION, minItems: 1, title: 'a list of delays' },
        BACKOFF_KINDS.exponential,
        BACKOFF_KINDS.fixed,
      ],
    },
    intensity: INTENSITY,
    signIns: INTENSITY,
    maxUnreachable: { type: 'integer', minimum: 1 },
    maxSubscriptionTries: { type: 'integer', minimum: 1 },
    exhausted: subset({ callAfterMs: DURATION, remoteEveryMs: DURATION }),
    stableMs: DURATION,
    immediateRetryWindowMs: DURATION,
    ping: subset({ idleMs: DURATION, timeoutMs: DURATION }),
    listChanged: subset({ debounceMs: DURATION, maxWaitMs: DURATION }),
    stop: subset({ drainMs: DURATION, deleteMs: DURATION, stdinEndMs: DURATION, termMs: DURATION }),
    idleStopMs: DURATION,
  } satisfies Record<keyof ConnectionPolicy, Schema>,
};

export function subset(properties: Readonly<Record<string, Schema>>): Schema {
  return { type: 'object', properties, additionalProperties: false };
}

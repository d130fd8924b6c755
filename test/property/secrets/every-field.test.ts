/**
 * A secret in any text of any event comes out of the publisher masked: the secret of an entry, a token with a form of its
 * own, and one that only the host knows. The samples name every field of every event, so a new field must be added here.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../machines/policy/failure.js';
import type { LifecycleEvent, LifecycleEventBody, LifecycleEventType } from '../../../src/lifecycle/event.js';
import { Publisher } from '../../../src/lifecycle/publish.js';
import { createMask } from '../../../src/secrets/secrets.js';
import { maskShown } from '../../../src/secrets/secret-text.js';
import { toRedact } from '../../../src/secrets/redact.js';
import { createControlledClock } from '../../support/controlled-clock.js';

const TEXT = 'before SECRET after';
const SIGN_IN = 'https://auth.test/authorize?client_id=a&state=zPUaT0XHQpIq69br8uPBSu0nN4mbCQ1D';
type Body<K extends LifecycleEventType> = Omit<Extract<LifecycleEventBody, { type: K }>, 'type'>;

const about = { server: 'docs', generation: 1 } as const;
const failure: Required<Failure> = {
  code: 'process-exited',
  message: TEXT,
  phase: 'session',
  at: 0,
  hint: TEXT,
  url: TEXT,
  exit: { code: 1, signal: null },
  http: { status: 403, bodyStart: TEXT, wwwAuthenticate: TEXT },
  canSignIn: false,
  rpcCode: -1,
  stderrTail: [TEXT, TEXT],
  stdoutTail: [TEXT],
};
const call = { ...about, call: 1, tool: TEXT };

/** Every event, with a text in each field that may hold one. */
const SAMPLES: { readonly [K in LifecycleEventType]: Required<Body<K>> } = {
  'manager.started': { connections: 1 },
  'manager.stopped': {},
  'manager.failed': { message: TEXT },
  'manager.rejected': { state: 'idle', event: 'manager.add', reason: 'unhandled', allowed: ['manager.open'] },
  'connection.added': { ...about, source: TEXT },
  'connection.removed': about,
  'connection.state': { ...about, from: null, to: 'ready', substate: 'a' },
  'connection.ready': { ...about, toolCount: 1 },
  'connection.lost': { ...about, failure },
  'connection.retrying': { ...about, attempt: 1, maxAttempts: 2, delayMs: 3, failure },
  'connection.failed': { ...about, attempt: 1, maxAttempts: 2, failure },
  'connection.stopped': { ...about, reason: 'stop' },
  'connection.rejected': { ...about, state: 'ready', event: 'a', reason: 'unhandled', allowed: [] },
  'connection.trustRequired': about,
  // A person opens the address as it is.
  'connection.authRequired': { ...about, url: SIGN_IN },
  'connection.authSettled': { ...about, failure },
  'catalog.changed': {
    ...about,
    list: 'tools',
    added: [TEXT],
    removed: [TEXT],
    changed: [TEXT],
    toolCount: 1,
    why: TEXT,
  },
  'tool.held': { ...about, tool: TEXT, reason: 'changed', fields: [], fingerprint: 'f' },
  'tool.accepted': { ...about, tool: TEXT, fingerprint: 'f' },
  'call.started': { ...call, repeats: 1 },
  'call.progress': { ...call, progress: 1, total: 2 },
  'call.finished': { ...call, durationMs: 1, outcome: 'answered' },
  'server.request': { ...about, method: TEXT, outcome: 'answered', durationMs: 1, call: 1 },
  'elicitation.completed': { ...about, elicitationId: TEXT },
  'resource.updated': { ...about, uri: TEXT },
  'server.notification': { ...about, method: TEXT, params: { type: TEXT, list: [{ [TEXT]: TEXT }] } },
  'server.log': { ...about, stream: 'stderr', level: TEXT, message: TEXT },
  diagnostic: {
    ...about,
    kind: 'clock-jump',
    message: TEXT,
    tool: TEXT,
    problem: 'invalid-shape' as never,
    signals: [],
  },
};

const letters = fc.stringMatching(/^[a-z0-9]{12}$/);
const KINDS = {
  'of an entry': letters,
  'with the form of a token': letters.map((text) => `ghp_${text}`),
  'that only the host knows': letters.map((text) => `ACME-${text}`),
};

async function published(type: LifecycleEventType, secret: string, known: string): Promise<LifecycleEvent[]> {
  const known$ = createMask([known]);
  const redact = toRedact(
    (text) => text.replaceAll(/ACME-\w+/g, '***'),
    () => {},
  );
  const publisher = new Publisher(
    createControlledClock(),
    undefined,
    () => (text) => redact(maskShown(known$(text))),
  );
  const events: LifecycleEvent[] = [];
  publisher.events$.subscribe((event) => events.push(event));
  const planted = JSON.parse(
    JSON.stringify({ type, ...SAMPLES[type] }).replaceAll('SECRET', secret),
  ) as LifecycleEventBody;
  publisher.publish(planted);
  publisher.complete();
  await Promise.resolve();
  return events;
}

describe.each(Object.entries(KINDS))('a secret %s', (kind, secrets) => {
  it.each(Object.keys(SAMPLES) as LifecycleEventType[])('is masked in every text of %s', async (type) => {
    await fc.assert(
      fc.asyncProperty(secrets, async (secret) => {
        const events = await published(type, secret, kind === 'of an entry' ? secret : 'unrelated');
        expect(events).toHaveLength(1);
        expect(JSON.stringify(events)).not.toContain(secret);
        expect(events[0]?.type).toBe(type);
      }),
      { numRuns: 3 },
    );
  });
});

it('the address of a sign-in arrives as it is.', async () => {
  expect(await published('connection.authRequired', 'secret', 'secret')).toMatchObject([{ url: SIGN_IN }]);
});

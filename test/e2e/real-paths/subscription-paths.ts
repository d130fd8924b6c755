/** Transitions of the stream of changes, with a child process that speaks the new era. */
import { describe, expect, it } from 'vitest';
import { waitFor } from 'xstate';
import type { ConnectionEvent } from '../../../machines/connection/connection.events.js';
import type { ServerScript } from '../../../src/testing/server-script.js';
import { actorOf } from './account.js';
import { ChildLife } from './child-life.js';
import { REFRESH } from './chart-events.js';
import { LIMIT_MS, QUICK } from './life.js';

const LISTENS: ServerScript = { era: 'new', capabilities: { tools: { listChanged: true } } };
const ONE_TRY = { protocol: 'new', policy: { ...QUICK, maxSubscriptionTries: 1 } } as const;

const region = 'connection.ready.subscription';

function happens(type: 'subscription.wanted' | 'subscription.ended'): void {
  const { generation } = actorOf('connection').getSnapshot().context;
  const event: ConnectionEvent =
    type === 'subscription.wanted' ? { type, generation } : { type, generation, at: Date.now() };
  actorOf('connection').send(event);
}

function subscription(): unknown {
  const { value } = actorOf('connection').getSnapshot();
  return typeof value === 'object' && 'ready' in value ? value.ready?.subscription : undefined;
}

/** Resolves when the stream is open. */
function subscribed(): Promise<unknown> {
  return waitFor(actorOf('connection'), () => subscription() === 'subscribed', { timeout: LIMIT_MS / 3 });
}

function answering(error: { code: number; message: string }): ServerScript {
  return { ...LISTENS, on: { 'subscriptions/listen': { error } } };
}

export function subscriptionPaths(): void {
  describe('a real child of the new era', { timeout: LIMIT_MS }, () => {
    it('reports changes, is asked to report more, and ends its stream until it is given up.', async () => {
      const life = await ChildLife.begin(LISTENS, ONE_TRY);
      await life.takes(`${region}.subscribing: xstate.done.actor.subscribe, branch 1`);
      happens('subscription.wanted');
      happens('subscription.wanted');
      expect(subscription()).toBe('subscribing');
      await subscribed();
      happens('subscription.ended');
      expect(subscription()).toBe('waiting');
      happens('subscription.ended');
      happens('subscription.wanted');
      expect(subscription()).toBe('waiting');
      await subscribed();
      happens('subscription.ended');
      expect(subscription()).toBe('givenUp');
      actorOf('connection').send(REFRESH);
      expect(subscription()).toBe('subscribing');
      await subscribed();
      expect(life.path).toMatch(/^ready/);
    });

    it('has nothing to report until resources are watched.', async () => {
      const life = await ChildLife.begin({ ...LISTENS, capabilities: { tools: {} } }, ONE_TRY);
      await life.takes(`${region}.subscribing: xstate.done.actor.subscribe, branch 0`);
      happens('subscription.wanted');
      await life.takes(`${region}.none: subscription.wanted`);
      expect(life.path).toMatch(/^ready/);
    });

    it('does not know the stream.', async () => {
      const life = await ChildLife.begin(answering({ code: -32601, message: 'Method not found' }), ONE_TRY);
      await life.takes(`${region}.subscribing: xstate.error.actor.subscribe, branch 0`);
      expect(subscription()).toBe('givenUp');
    });

    it('refuses the stream for a while.', async () => {
      const life = await ChildLife.begin(answering({ code: -32603, message: 'busy' }), ONE_TRY);
      await life.takes(`${region}.subscribing: xstate.error.actor.subscribe, branch 1`);
      await life.takes(`${region}.subscribing: xstate.error.actor.subscribe, branch 2`);
      expect(life.path).toMatch(/^ready/);
    });
  });
}

/** The whole context of a review, field by field, and the inputs of its effects. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import {
  reviewMachine,
  type KeepAcceptedInput,
  type RecallBaselineInput,
} from '../../../machines/review/review.machine.js';
import { print, prints, ReviewDriver } from './review-driver.js';

describe('the context of a review', () => {
  it('starts empty, with every field present.', () => {
    expect(new ReviewDriver().context).toStrictEqual({
      server: 'fs',
      listed: [],
      accepted: null,
      held: [],
      unkept: [],
      outdated: false,
      due: false,
    });
  });

  it('has the acceptances as soon as they are known, even if the store has changed in the meantime.', async () => {
    const driver = new ReviewDriver();
    await driver.list('read:2');
    await driver.changeStore();
    expect(driver.context).toMatchObject({ outdated: true });
    await driver.recall('read:1');
    expect(driver.path).toBe('recalling');
    expect(driver.context).toStrictEqual({
      server: 'fs',
      listed: prints('read:2'),
      accepted: prints('read:1'),
      held: [{ ...print('read:2'), reason: 'changed' }],
      unkept: [],
      outdated: false,
      due: false,
    });
  });

  it('is updated by each list, even if something is still being stored.', async () => {
    const driver = new ReviewDriver();
    await driver.list('read:1');
    await driver.recall();
    await driver.list('read:2');
    await driver.accept('read:2');
    await driver.fail();
    await driver.list('read:3');
    expect(driver.path).toBe('keeping');
    expect(driver.held).toBe('read:3');
  });

  it('emits a failed write even if the store is read again.', async () => {
    const driver = new ReviewDriver();
    await driver.list('read:1');
    await driver.recall();
    await driver.list('read:2');
    await driver.accept('read:2');
    await driver.changeStore();
    expect(driver.newEvents).toContain('accepted read:2');
    await driver.fail('no disk');
    expect(driver.path).toBe('recalling');
    expect(driver.newEvents).toEqual(['troubled: no disk']);
  });
});

describe('the effects of a review', () => {
  it('have the identity of the server.', async () => {
    const asked: object[] = [];
    const actor = createActor(
      reviewMachine.provide({
        actors: {
          recallBaseline: fromPromise(async ({ input }: { input: RecallBaselineInput }) => {
            asked.push(input);
            return { accepted: input.first };
          }),
          keepAccepted: fromPromise(async ({ input }: { input: KeepAcceptedInput }) => {
            asked.push(input);
            return { kept: input.prints };
          }),
        },
      }),
      { input: { server: 'fs' } },
    );
    actor.start();
    actor.send({ type: 'tools.listed', tools: prints('read:1') });
    await turn();
    actor.send({ type: 'tools.listed', tools: prints('read:2') });
    actor.send({ type: 'tool.accept', ...print('read:2') });
    await turn();
    expect(asked).toStrictEqual([
      { server: 'fs', first: prints('read:1') },
      { server: 'fs', prints: prints('read:2') },
    ]);
    actor.stop();
  });
});

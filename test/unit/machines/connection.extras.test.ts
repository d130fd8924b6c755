/** Which of the lists other than the tools are read after several changed in one burst. */
import { describe, expect, it } from 'vitest';
import {
  beginReading,
  forgetChanged,
  LIST_GROUPS,
  noteChanged,
} from '../../../machines/connection/list-plan.js';
import { ConnectionDriver } from '../../support/connection-driver.js';

it('reads every list that changed during the burst, once.', async () => {
  const driver = new ConnectionDriver();
  await driver.bringUp();
  expect(driver.path).toBe('ready.resting+current');
  await driver.extrasChanged('resources');
  await driver.advance(100);
  await driver.extrasChanged('prompts');
  await driver.advance(299);
  expect(driver.running()).not.toContain('enrichCatalog');
  await driver.advance(1);
  expect(driver.inputOf('enrichCatalog')).toMatchObject({ lists: ['resources', 'prompts'] });
});

it('reads lists that change after the maximum wait, too, and does not wait for more.', async () => {
  const driver = new ConnectionDriver({ policy: { listChanged: { debounceMs: 300, maxWaitMs: 0 } } });
  await driver.bringUp();
  await driver.extrasChanged('resources');
  await driver.advance(100);
  await driver.extrasChanged('prompts');
  await driver.advance(200);
  expect(driver.inputOf('enrichCatalog')).toMatchObject({ lists: ['resources', 'prompts'] });
});

it('knows since when the list of tools is out of date.', async () => {
  const driver = new ConnectionDriver();
  await driver.bringUp();
  await driver.listChanged();
  const due = { reading: ['tools'], due: ['tools'], dueSince: driver.clock.now() };
  expect(driver.context.tools).toStrictEqual(due);
  await driver.advance(300);
  expect(driver.context.tools).toStrictEqual({ ...due, due: [], dueSince: null });
});

describe('the plan of a group of lists', () => {
  const whole = LIST_GROUPS.extras;
  const first = noteChanged(whole, 'prompts', 10);

  it('finishes what it began, whatever changes in the meantime, and knows what is due.', () => {
    expect(first).toStrictEqual({ reading: ['resources', 'prompts'], due: ['prompts'], dueSince: 10 });
    const second = noteChanged(first, 'resources', 20);
    expect(second).toStrictEqual({
      reading: ['resources', 'prompts'],
      due: ['prompts', 'resources'],
      dueSince: 10,
    });
    expect(noteChanged(second, 'prompts', 30)).toStrictEqual(second);
  });

  it('reads what is due, and everything if nothing is marked as due.', () => {
    expect(beginReading(first, whole)).toStrictEqual({ reading: ['prompts'], due: [], dueSince: null });
    expect(forgetChanged(first)).toStrictEqual(whole);
    expect(beginReading(forgetChanged(first), whole)).toStrictEqual(whole);
  });
});

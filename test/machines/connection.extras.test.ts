/** What is read of the lists beside the tools after several of them have changed in one storm. */
import { expect, it } from 'vitest';
import { beginListing, EVERYTHING, forgetChanged, noteChanged } from '../../machines/extras-plan.js';
import { ConnectionDriver } from '../support/connection-driver.js';

it('reads every list that was told to have changed while the storm lasted, once.', async () => {
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

it('reads what was begun to the end, whatever changes meanwhile, and knows what is to follow.', () => {
  const listing = beginListing(EVERYTHING);
  const first = noteChanged(listing, 'prompts', 10);
  expect(first).toStrictEqual({ listing: ['resources', 'prompts'], due: ['prompts'], dueSince: 10 });
  expect(noteChanged(first, 'resources', 20)).toStrictEqual({
    listing: ['resources', 'prompts'],
    due: ['resources', 'prompts'],
    dueSince: 10,
  });
  expect(forgetChanged(first)).toStrictEqual(EVERYTHING);
});

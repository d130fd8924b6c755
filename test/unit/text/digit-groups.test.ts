import { expect, it } from 'vitest';
import { digitGroups } from '../../../src/text/digit-groups.js';

it.each([0, 7, 999, 1_000, 48_576, 1_048_576, 2_147_483_647])('writes %i like the locale en-US', (count) => {
  expect(digitGroups(count)).toBe(count.toLocaleString('en-US'));
});

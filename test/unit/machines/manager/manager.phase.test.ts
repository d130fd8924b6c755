/** The phase of a troupe, read from the value of a manager's state. */
import { describe, expect, it } from 'vitest';
import type { StateValue } from 'xstate';
import { TROUPE_PHASES } from '../../../../machines/manager/manager.events.js';
import { managerMachine } from '../../../../machines/manager/manager.machine.js';
import { phaseOf } from '../../../../machines/manager/manager.phase.js';

describe('the phase', () => {
  it.each<[StateValue, string]>([
    [{ phase: 'running', starts: 'granting', budget: 'full', network: 'online' }, 'running'],
    [{ phase: { starting: 'forAll' }, starts: 'granting', budget: 'full', network: 'online' }, 'starting'],
    ['closed', 'closed'],
  ])('of %j is %s', (value, phase) => {
    expect(phaseOf(value)).toBe(phase);
  });

  it('is one of the phases of the chart, in their order.', () => {
    expect(TROUPE_PHASES).toEqual(Object.keys(managerMachine.states['phase']!.states));
  });
});

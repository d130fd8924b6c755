/**
 * What the manager chart does, as tables of every event against every state of each region. Written from the design, not
 * from the chart; how an event is made to happen is in `manager.transitions.test.ts`.
 *
 * A cell is the next state of the region, or:
 * - `stays`: it is accepted without leaving the state;
 * - `ignored`: it is explicitly ignored here;
 * - `-`: nothing here handles it;
 * - `.`: it cannot happen here.
 */
import { readTable } from '../../support/text-table.js';

/** The phase. */
export const PHASES = readTable(`
event                              | idle    | reading         | starting      | running  | closing | closed
-----------------------------------|---------|-----------------|----------------------|----------|---------|--------
manager.open                       | reading | ignored         | -                    | -        | -       | -
manager.start                      | -       | starting | -                    | -        | -       | -
manager.start (of nobody)          | -       | running         | -                    | -        | -       | -
manager.add                        | -       | -               | stays                | stays    | -       | -
manager.stop                       | closed  | closed          | closing              | closing  | stays   | ignored
network.changed                    | stays   | stays           | stays                | stays    | stays   | stays
network.changed (to the same)      | ignored | ignored         | ignored              | ignored  | ignored | ignored
child.wantsSlot                    | .       | .               | stays                | stays    | ignored | .
child.wantsSlot (again)            | .       | .               | ignored              | ignored  | ignored | .
child.wantsSlot (for a retry)      | .       | .               | stays                | stays    | ignored | .
child.leftStart                    | .       | .               | stays                | stays    | ignored | .
child.leftStart (without slot)     | .       | .               | ignored              | ignored  | ignored | .
child.settled                      | .       | .               | stays                | ignored  | ignored | .
child.settled (the last)           | .       | .               | running              | ignored  | ignored | .
retry.allowed                      | .       | .               | stays                | stays    | ignored | .
retry.allowed (to nobody)          | .       | .               | ignored              | ignored  | ignored | .
slot.expired                       | .       | .               | stays                | stays    | .       | .
cores.idle                         | .       | .               | stays                | stays    | .       | .
clock.jumped                       | stays   | stays           | stays                | stays    | stays   | stays
a child ends                       | .       | .               | stays                | stays    | stays   | .
a child ends (the last)            | .       | .               | .                    | stays    | closed  | .
a child dies                       | .       | .               | stays                | stays    | stays   | .
a child dies (the last)            | .       | .               | running              | stays    | closed  | .
a child dies (for good)            | .       | .               | stays                | stays    | stays   | .
the start gate                     | .       | .               | running              | .        | .       | .
the refill                         | .       | .               | stays                | stays    | .       | .
`);

/** The other regions, while the phase is `starting`: only the events that one of them handles. */
export const REGIONS = readTable(`
event                          | starts granting | starts over | budget full | budget refilling | network online | network offline
-------------------------------|-----------------|-------------|-------------|------------------|----------------|----------------
manager.stop                   | over            | stays       | stays       | full             | stays          | stays
network.changed                | stays           | stays       | stays       | stays            | offline        | online
network.changed (to the same)  | stays           | stays       | stays       | stays            | stays          | stays
child.wantsSlot                | stays           | stays       | stays       | stays            | stays          | stays
child.wantsSlot (for a retry)  | stays           | stays       | refilling   | stays            | stays          | stays
child.leftStart                | stays           | stays       | stays       | stays            | stays          | stays
retry.allowed                  | stays           | stays       | refilling   | stays            | stays          | stays
slot.expired                   | stays           | .           | stays       | stays            | stays          | stays
cores.idle                     | stays           | .           | stays       | stays            | stays          | stays
a child dies                   | stays           | stays       | stays       | stays            | stays          | stays
the refill                     | stays           | .           | stays       | full             | stays          | stays
the refill (of one of two)     | stays           | .           | refilling   | stays            | stays          | stays
`);

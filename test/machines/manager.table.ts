/**
 * What the manager chart does, as a table of every event against every state. Written from the design, not from the
 * chart; how an event is made to happen is in `manager.transitions.test.ts`.
 *
 * A cell is the next state, or:
 * - `stays`: it is obeyed without leaving the state;
 * - `ignored`: it means nothing here, which is known;
 * - `guarded`: it is known here and refused now;
 * - `-`: nothing here knows it;
 * - `.`: it cannot happen here.
 */
import { readTable } from '../support/text-table.js';

export const EVENTS = readTable(`
event                              | idle            | starting.forAll      | starting.forUncached | running  | stopping | stopped
-----------------------------------|-----------------|----------------------|----------------------|----------|----------|--------
manager.start                      | starting.forAll | -                    | -                    | -        | -        | -
manager.start (of nobody)          | running         | -                    | -                    | -        | -        | -
manager.add                        | -               | stays                | stays                | stays    | -        | -
manager.stop                       | stopped         | stopping             | stopping             | stopping | stays    | -
network.changed                    | stays           | stays                | stays                | stays    | stays    | stays
network.changed (to the same)      | guarded         | guarded              | guarded              | guarded  | guarded  | guarded
child.wantsSlot                    | .               | stays                | stays                | stays    | ignored  | .
child.wantsSlot (again)            | .               | guarded              | guarded              | guarded  | ignored  | .
child.wantsSlot (for a retry)      | .               | stays                | stays                | stays    | ignored  | .
child.leftStart                    | .               | stays                | stays                | stays    | ignored  | .
child.leftStart (without slot)     | .               | guarded              | guarded              | guarded  | ignored  | .
child.settled                      | .               | stays                | stays                | ignored  | ignored  | .
child.settled (all but cached)     | .               | stays                | running              | ignored  | ignored  | .
child.settled (the last)           | .               | running              | running              | ignored  | ignored  | .
slot.expired                       | .               | stays                | stays                | stays    | .        | .
budget.refill                      | .               | stays                | stays                | stays    | .        | .
clock.jumped                       | stays           | stays                | stays                | stays    | stays    | stays
a child ends                       | .               | stays                | stays                | stays    | stays    | .
a child ends (the last)            | .               | .                    | .                    | stays    | stopped  | .
a child dies                       | .               | stays                | stays                | stays    | stays    | .
a child dies (the last)            | .               | running              | running              | stays    | stopped  | .
the cached gate                    | .               | starting.forUncached | .                    | .        | .        | .
the start gate                     | .               | running              | running              | .        | .        | .
`);

/**
 * What the review chart does, as a table of every event against every state. Written from the design, not from the
 * chart; how each state is reached, and each event made to happen, is in `review.transitions.test.ts`.
 *
 * A cell is the next state, or:
 * - `stays`: it is accepted without leaving the state;
 * - `ignored`: it is explicitly ignored here;
 * - `guarded`: it is handled here, but every guard refuses it;
 * - `-`: nothing here handles it;
 * - `.`: it cannot happen here.
 */
import { readTable } from '../../support/text-table.js';

export const EVENTS = readTable(`
situation                      | listed: nothing | listed: accepted | listed: changed | accept: change | accept: another | accept: accepted | store.changed | recalled       | not recalled   | kept           | not kept
-------------------------------|-----------------|------------------|-----------------|-----------------|------------------|-------------------|---------------|----------------|----------------|----------------|---------------
unseen                         | guarded         | recalling        | recalling       | -               | -                | -                 | ignored       | .              | .              | .              | .
recalling                      | stays           | stays            | stays           | guarded         | guarded          | guarded           | stays         | judged.clear   | blind          | .              | .
recalling (outdated)           | stays           | stays            | stays           | guarded         | guarded          | guarded           | stays         | recalling      | blind          | .              | .
recalling (after blindness)    | stays           | stays            | stays           | stays           | guarded          | guarded           | stays         | judged.holding | blind          | .              | .
recalling (known)              | stays           | stays            | stays           | stays           | guarded          | ignored           | stays         | judged.holding | judged.holding | .              | .
recalling (accepted meanwhile) | stays           | stays            | stays           | ignored         | guarded          | ignored           | stays         | keeping        | judged.clear   | .              | .
recalling (could not keep)     | stays           | stays            | stays           | ignored         | guarded          | ignored           | stays         | judged.clear   | judged.clear   | .              | .
judged.clear                   | stays           | stays            | judged.holding  | guarded         | guarded          | ignored           | recalling     | .              | .              | .              | .
judged.clear (unkept)          | keeping         | keeping          | keeping         | ignored         | guarded          | ignored           | recalling     | .              | .              | .              | .
judged.holding                 | judged.clear    | judged.clear     | stays           | keeping         | guarded          | ignored           | recalling     | .              | .              | .              | .
keeping                        | stays           | stays            | stays           | ignored         | guarded          | ignored           | stays         | .              | .              | judged.clear   | judged.clear
keeping (outdated)             | stays           | stays            | stays           | ignored         | guarded          | ignored           | stays         | .              | .              | recalling      | recalling
keeping (another is held)      | stays           | stays            | stays           | stays           | guarded          | ignored           | stays         | .              | .              | judged.holding | judged.holding
keeping (more was accepted)    | stays           | stays            | stays           | ignored         | guarded          | ignored           | stays         | .              | .              | keeping        | keeping
blind                          | stays           | recalling        | recalling       | keeping         | guarded          | guarded           | recalling     | .              | .              | .              | .
blind (nothing is listed)      | stays           | recalling        | recalling       | guarded         | guarded          | guarded           | guarded       | .              | .              | .              | .
`);

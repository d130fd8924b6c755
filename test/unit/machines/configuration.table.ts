/**
 * What the configuration chart does with every event in every situation, written from its rules and not from the chart.
 *
 * `stays` changes only the context, `-` is not handled there, and `.` cannot happen there.
 */
import { readTable } from '../../support/text-table.js';

export const EVENTS = readTable(`
situation                   | files.changed | reload.asked | watch.failed | configuration.close | rested   | retry is due | read     | read in part        | not applied
--------------------------- | ------------- | ------------ | ------------ | ------------------- | -------- | ------------ | -------- | ------------------- | -----------
quiet                       | changed       | applying     | stays        | closed              | .        | .            | .        | .                   | .
changed                     | stays         | applying     | stays        | closed              | applying | .            | .        | .                   | .
applying                    | stays         | stays        | stays        | closed              | .        | .            | quiet    | unreadable.retrying | failed
applying (last retry)       | stays         | stays        | stays        | closed              | .        | .            | quiet    | unreadable.waiting  | failed
applying (asked)            | stays         | stays        | stays        | closed              | .        | .            | quiet    | unreadable.retrying | failed
applying (changed again)    | stays         | stays        | stays        | closed              | .        | .            | changed  | changed             | changed
applying (asked again)      | stays         | stays        | stays        | closed              | .        | .            | applying | applying            | applying
applying (both)             | stays         | stays        | stays        | closed              | .        | .            | applying | applying            | applying
unreadable.retrying         | changed       | applying     | stays        | closed              | .        | applying     | .        | .                   | .
unreadable.retrying (begun) | changed       | applying     | stays        | closed              | .        | applying     | .        | .                   | .
unreadable.waiting          | changed       | applying     | stays        | closed              | .        | .            | .        | .                   | .
failed                      | changed       | applying     | stays        | closed              | .        | .            | .        | .                   | .
closed                      | -             | -            | -            | -                   | .        | .            | .        | .                   | .
`);

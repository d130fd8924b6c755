/** A mutant is caught by the first story that fails; which is the shortest does not matter. */
import * as fc from 'fast-check';

fc.configureGlobal({ endOnFailure: true });

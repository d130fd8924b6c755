/** Switches off shrinking: the first failing sequence catches a mutant, and the shortest one is not needed. */
import * as fc from 'fast-check';

fc.configureGlobal({ endOnFailure: true });

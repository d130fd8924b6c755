/**
 * One account at one server, for every connection that uses it: the life of its token and of a person's sign-in (OAuth
 * 2.1, authorization code).
 *
 * Owns: when a token is read, renewed and given up, when a person is asked, and what follows from an answer. Does not own:
 * tokens, codes and addresses (the runtime keeps them and numbers them), or how many sign-ins may fail to help
 * (`ConnectionPolicy.signIns`).
 *
 * S1. A token is renewed before it expires, and once when the server refuses it. Requests in the meantime share that.
 * S2. A person is asked only if there is no other way to get a token.
 * S3. A sign-in begins with the first connection that waits and ends with the last. Exiting `underWay` closes the
 *     listener and stops the watch: nothing of a sign-in outlives it.
 * S4. Codes are exchanged one at a time. If one cannot be exchanged, the person may try again, unless the client itself
 *     was refused: then its registration is forgotten and the sign-in fails.
 * S5. A sign-in in another process counts.
 * S6. Additional scopes are requested once. A server that demands them again causes no further sign-in.
 * S7. No timer runs while a person is asked.
 */
import { NO_SCOPES } from '../policy/scopes.js';
import { person } from './sign-in.person.js';
import { signIn } from './sign-in.setup.js';
import { token, tokenOf } from './sign-in.token.js';

/** The chart of one account: it obtains, renews and replaces its tokens. */
export const signInMachine = signIn.createMachine({
  id: 'signIn',
  options: { maxIterations: 100 },
  context: ({ input }) => ({
    ...input,
    held: null,
    refused: 0,
    renewable: false,
    ledger: NO_SCOPES,
    challenged: [],
    renewal: { cause: 'due', scopes: [] },
    attempt: 0,
    waiting: 0,
    asking: [],
    answers: [],
    failure: null,
  }),
  type: 'parallel',
  on: {
    'token.refusedAgain': { actions: [{ type: 'noteRefused', params: tokenOf }, 'noteRenewable'] },
  },
  states: {
    token,
    signIn: person,
  },
});

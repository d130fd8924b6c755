/**
 * How each state of the sign-in chart is reached, one entry for every pair of states of its regions that behaves
 * differently. The key is the state of the token and the state of the sign-in, with the circumstance in brackets.
 *
 * The token in use is 1 and lives for an hour; 2 is another one. Scope `look` was granted, `sail` was not.
 */
import type { SignInInput } from '../../../machines/sign-in/sign-in.events.js';
import { inOrder, type Walk } from '../../support/chart-table.js';
import { facts, type SignInDriver } from './sign-in-driver.js';

export interface Situation {
  readonly input?: Partial<SignInInput>;
  readonly reach: Walk<SignInDriver>;
}

type Reach = Situation['reach'];

const steps = inOrder<SignInDriver>;

const toReading: Reach = (driver) => driver.wanted();
const toSignedIn = steps(toReading, (driver) => driver.read(facts(1)));
const toAdopted = steps(toSignedIn, (driver) => driver.send({ type: 'token.refusedAgain', token: 1 }));
const toSignedOut = steps(toReading, (driver) => driver.read(null));
const refuse: Reach = (driver) => driver.send({ type: 'token.refused', token: 1, scopes: [] });
const demand: Reach = (driver) => driver.send({ type: 'scope.demanded', token: 1, scopes: ['sail'] });
const join: Reach = (driver) => driver.send({ type: 'signIn.joined' });
const findNobody: Reach = (driver) => driver.settle('lookForOther', { found: false });

const toLooking = steps(toSignedOut, join);
const toOpening = steps(toLooking, findNobody);
const toDiscovering = steps(toOpening, (driver) => driver.send({ type: 'redirect.opened' }));
const toWaiting = steps(toDiscovering, (driver) => driver.settle('beginSignIn', { kind: 'asked' }));
const answer =
  (number: number): Reach =>
  (driver) =>
    driver.send({ type: 'answer.given', answer: number });
const toExchanging = steps(toWaiting, answer(1));
const toDropping = steps(toExchanging, (driver) =>
  driver.settle('exchangeCode', {
    kind: 'clientRefused',
    failure: { code: 'auth-required', message: 'no such client', phase: 'handshake', at: 0 },
  }),
);
const close: Reach = (driver) => driver.send({ type: 'account.closing' });

const UNATTENDED = { attended: false };
const WATCHING = { interactive: false };

export const SITUATIONS: Readonly<Record<string, Situation>> = {
  'unread+idle': { reach: async () => {} },
  'unread+idle (no person)': { input: UNATTENDED, reach: async () => {} },
  'reading+idle': { reach: toReading },
  'reading+idle (no person)': { input: UNATTENDED, reach: toReading },
  'signedIn+idle': { reach: toSignedIn },
  'signedIn+idle (asked for sail)': {
    input: UNATTENDED,
    reach: steps(toSignedIn, demand, (driver) => driver.renew(facts(1))),
  },
  'signedIn+idle (no person)': { input: UNATTENDED, reach: toSignedIn },
  'signedOut+idle': { reach: toSignedOut },
  'renewing+idle (due)': { reach: steps(toSignedIn, (driver) => driver.wanted(3_300_000)) },
  'renewing+idle (ended)': { reach: steps(toSignedIn, (driver) => driver.wanted(3_600_000)) },
  'renewing+idle (refused)': { reach: steps(toSignedIn, refuse) },
  'renewing+idle (due, then refused)': {
    reach: steps(toSignedIn, (driver) => driver.wanted(3_300_000), refuse),
  },
  'renewing+idle (no person, demanded)': { input: UNATTENDED, reach: steps(toSignedIn, demand) },
  'signedOut+looking': { reach: toLooking },
  'signedOut+looking (two wait)': { reach: steps(toLooking, join) },
  'signedIn+looking (adopted)': { reach: steps(toAdopted, join) },
  'signedIn+looking (no person)': { input: UNATTENDED, reach: steps(toSignedIn, join) },
  'unread+looking (no person)': { input: UNATTENDED, reach: join },
  'reading+looking (no person)': { input: UNATTENDED, reach: steps(toReading, join) },
  'renewing+renewing': { reach: steps(toAdopted, join, findNobody) },
  'renewing+renewing (two wait)': { reach: steps(toAdopted, join, findNobody, join) },
  'renewing+renewing (no person)': { input: UNATTENDED, reach: steps(toSignedIn, join, findNobody) },
  'renewing+renewing (due)': {
    reach: steps(toAdopted, (driver) => driver.wanted(3_300_000), join, findNobody),
  },
  'signedOut+opening': { reach: toOpening },
  'signedOut+watching': { input: WATCHING, reach: toOpening },
  'signedOut+watching (two wait)': { input: WATCHING, reach: steps(toOpening, join) },
  'signedOut+discovering': { reach: toDiscovering },
  'signedOut+waitingForPerson': { reach: toWaiting },
  'signedOut+waitingForPerson (two wait)': { reach: steps(toWaiting, join) },
  'renewing+waitingForPerson': {
    reach: steps(
      toSignedIn,
      demand,
      join,
      findNobody,
      (driver) => driver.send({ type: 'redirect.opened' }),
      (driver) => driver.settle('beginSignIn', { kind: 'asked' }),
      refuse,
    ),
  },
  'signedOut+exchanging': { reach: toExchanging },
  'signedOut+exchanging (two answers)': { reach: steps(toExchanging, answer(2)) },
  'signedOut+droppingClient': { reach: toDropping },
  'unread+signedIn': {
    reach: steps(toExchanging, (driver) => driver.settle('exchangeCode', { kind: 'exchanged' })),
  },
  'signedOut+refused': { reach: steps(toDiscovering, (driver) => driver.fail('beginSignIn')) },
  'signedOut+givenUp': { reach: steps(toLooking, (driver) => driver.send({ type: 'signIn.left' })) },
  'finishing+closed': { reach: steps(toSignedOut, close) },
  'cutting+closed': {
    reach: steps(toSignedOut, close, (driver) => driver.send({ type: 'account.hurried' })),
  },
  'closed+closed': { reach: steps(toSignedOut, close, (driver) => driver.settle('finishWork')) },
};

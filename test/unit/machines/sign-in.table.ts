/**
 * What the sign-in chart does, as tables of every event and every end of an effect against every state. How each state
 * is reached is in `sign-in.situations.ts`, what the columns stand for in `sign-in.transitions.test.ts`.
 *
 * A cell is the next state, or:
 * - `stays`: it is accepted without leaving the state;
 * - `ignored`: it is explicitly ignored here;
 * - `guarded`: it is handled here, but every guard refuses it;
 * - `-`: nothing here handles it;
 * - `stopped`: the chart has ended.
 */
import { readTable } from '../../support/text-table.js';

export const FACTS = readTable(`
situation                             | outdated                | wanted: early    | wanted: due      | refused: 1       | refused: 2 | refused: none             | refused again | demanded: sail   | demanded: look   | joined            | left              | other             | opened                | not opened        | answer 1             | answer 3             | declined          | closing          | hurried
--------------------------------------|-------------------------|------------------|------------------|------------------|------------|---------------------------|---------------|------------------|------------------|-------------------|-------------------|-------------------|-----------------------|-------------------|----------------------|----------------------|-------------------|------------------|---------------
unread+idle                           | ignored                 | reading+idle     | reading+idle     | guarded          | guarded    | renewing+idle             | stays         | stays            | stays            | unread+looking    | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
unread+idle (no person)               | ignored                 | reading+idle     | reading+idle     | guarded          | guarded    | renewing+idle             | stays         | renewing+idle    | renewing+idle    | unread+looking    | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
reading+idle                          | stays                   | ignored          | ignored          | guarded          | guarded    | renewing+idle             | stays         | stays            | stays            | reading+looking   | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
reading+idle (no person)              | stays                   | ignored          | ignored          | guarded          | guarded    | renewing+idle             | stays         | renewing+idle    | renewing+idle    | reading+looking   | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedIn+idle                         | unread+idle             | guarded          | renewing+idle    | renewing+idle    | guarded    | guarded                   | stays         | stays            | guarded          | signedIn+looking  | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedIn+idle (asked for sail)        | unread+idle             | guarded          | renewing+idle    | renewing+idle    | guarded    | guarded                   | stays         | guarded          | guarded          | signedIn+looking  | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedIn+idle (no person)             | unread+idle             | guarded          | renewing+idle    | renewing+idle    | guarded    | guarded                   | stays         | renewing+idle    | guarded          | signedIn+looking  | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedOut+idle                        | unread+idle             | guarded          | guarded          | guarded          | guarded    | renewing+idle             | stays         | stays            | stays            | signedOut+looking | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
renewing+idle (due)                   | ignored                 | guarded          | ignored          | stays            | guarded    | guarded                   | stays         | stays            | guarded          | renewing+looking  | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
renewing+idle (ended)                 | ignored                 | guarded          | ignored          | stays            | guarded    | guarded                   | stays         | stays            | guarded          | renewing+looking  | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
renewing+idle (refused)               | ignored                 | guarded          | ignored          | stays            | guarded    | guarded                   | stays         | stays            | guarded          | renewing+looking  | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
renewing+idle (due, then refused)     | ignored                 | guarded          | ignored          | stays            | guarded    | guarded                   | stays         | stays            | guarded          | renewing+looking  | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
renewing+idle (no person, demanded)   | ignored                 | guarded          | ignored          | stays            | guarded    | guarded                   | stays         | stays            | guarded          | renewing+looking  | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedOut+looking                     | unread+looking          | guarded          | guarded          | guarded          | guarded    | renewing+looking          | stays         | stays            | stays            | stays             | signedOut+givenUp | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedOut+looking (two wait)          | unread+looking          | guarded          | guarded          | guarded          | guarded    | renewing+looking          | stays         | stays            | stays            | stays             | stays             | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedIn+looking (adopted)            | unread+looking          | guarded          | renewing+looking | renewing+looking | guarded    | guarded                   | stays         | stays            | guarded          | stays             | signedIn+givenUp  | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedIn+looking (no person)          | unread+looking          | guarded          | renewing+looking | renewing+looking | guarded    | guarded                   | stays         | renewing+looking | guarded          | stays             | signedIn+givenUp  | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
unread+looking (no person)            | ignored                 | reading+looking  | reading+looking  | guarded          | guarded    | renewing+looking          | stays         | renewing+looking | renewing+looking | stays             | unread+givenUp    | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
reading+looking (no person)           | stays                   | ignored          | ignored          | guarded          | guarded    | renewing+looking          | stays         | renewing+looking | renewing+looking | stays             | reading+givenUp   | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
renewing+renewing                     | ignored                 | guarded          | ignored          | stays            | guarded    | guarded                   | stays         | stays            | guarded          | stays             | renewing+givenUp  | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
renewing+renewing (two wait)          | ignored                 | guarded          | ignored          | stays            | guarded    | guarded                   | stays         | stays            | guarded          | stays             | stays             | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
renewing+renewing (no person)         | ignored                 | guarded          | ignored          | stays            | guarded    | guarded                   | stays         | stays            | guarded          | stays             | renewing+givenUp  | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
renewing+renewing (due)               | ignored                 | guarded          | ignored          | stays            | guarded    | guarded                   | stays         | stays            | guarded          | stays             | renewing+givenUp  | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedOut+opening                     | unread+opening          | guarded          | guarded          | guarded          | guarded    | renewing+opening          | stays         | stays            | stays            | stays             | signedOut+givenUp | unread+signedIn   | signedOut+discovering | signedOut+refused | -                    | -                    | -                 | finishing+closed | -
signedOut+watching                    | unread+watching         | guarded          | guarded          | guarded          | guarded    | renewing+watching         | stays         | stays            | stays            | stays             | signedOut+givenUp | unread+signedIn   | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedOut+watching (two wait)         | unread+watching         | guarded          | guarded          | guarded          | guarded    | renewing+watching         | stays         | stays            | stays            | stays             | stays             | unread+signedIn   | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedOut+discovering                 | unread+discovering      | guarded          | guarded          | guarded          | guarded    | renewing+discovering      | stays         | stays            | stays            | stays             | signedOut+givenUp | unread+signedIn   | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedOut+waitingForPerson            | unread+waitingForPerson | guarded          | guarded          | guarded          | guarded    | renewing+waitingForPerson | stays         | stays            | stays            | stays             | signedOut+givenUp | unread+signedIn   | -                     | -                 | signedOut+exchanging | signedOut+exchanging | signedOut+refused | finishing+closed | -
signedOut+waitingForPerson (two wait) | unread+waitingForPerson | guarded          | guarded          | guarded          | guarded    | renewing+waitingForPerson | stays         | stays            | stays            | stays             | stays             | unread+signedIn   | -                     | -                 | signedOut+exchanging | signedOut+exchanging | signedOut+refused | finishing+closed | -
renewing+waitingForPerson             | ignored                 | guarded          | ignored          | stays            | guarded    | guarded                   | stays         | stays            | guarded          | stays             | renewing+givenUp  | renewing+signedIn | -                     | -                 | renewing+exchanging  | renewing+exchanging  | renewing+refused  | finishing+closed | -
signedOut+exchanging                  | unread+exchanging       | guarded          | guarded          | guarded          | guarded    | renewing+exchanging       | stays         | stays            | stays            | stays             | signedOut+givenUp | unread+signedIn   | -                     | -                 | guarded              | stays                | signedOut+refused | finishing+closed | -
signedOut+exchanging (two answers)    | unread+exchanging       | guarded          | guarded          | guarded          | guarded    | renewing+exchanging       | stays         | stays            | stays            | stays             | signedOut+givenUp | unread+signedIn   | -                     | -                 | guarded              | stays                | signedOut+refused | finishing+closed | -
signedOut+droppingClient              | unread+droppingClient   | guarded          | guarded          | guarded          | guarded    | renewing+droppingClient   | stays         | stays            | stays            | stays             | signedOut+givenUp | unread+signedIn   | -                     | -                 | guarded              | stays                | ignored           | finishing+closed | -
unread+signedIn                       | ignored                 | reading+signedIn | reading+signedIn | guarded          | guarded    | renewing+signedIn         | stays         | stays            | stays            | unread+looking    | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedOut+refused                     | unread+refused          | guarded          | guarded          | guarded          | guarded    | renewing+refused          | stays         | stays            | stays            | signedOut+looking | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
signedOut+givenUp                     | unread+givenUp          | guarded          | guarded          | guarded          | guarded    | renewing+givenUp          | stays         | stays            | stays            | signedOut+looking | -                 | -                 | -                     | -                 | -                    | -                    | -                 | finishing+closed | -
finishing+closed                      | -                       | -                | -                | -                | -          | -                         | stays         | -                | -                | -                 | -                 | -                 | -                     | -                 | -                    | -                    | -                 | stays            | cutting+closed
cutting+closed                        | -                       | -                | -                | -                | -          | -                         | stays         | -                | -                | -                 | -                 | -                 | -                     | -                 | -                    | -                    | -                 | stays            | -
closed+closed                         | stopped                 | stopped          | stopped          | stopped          | stopped    | stopped                   | stopped       | stopped          | stopped          | stopped           | stopped           | stopped           | stopped               | stopped           | stopped              | stopped              | stopped           | stopped          | stopped
`);

/** Where every effect that runs in a state leads, if it succeeds and if it fails. */
export const EFFECTS = readTable(`
situation                             | end                           | next
--------------------------------------|-------------------------------|---------------------------
reading+idle                          | readTokens (1)                | signedIn+idle
reading+idle                          | readTokens (ended)            | renewing+idle
reading+idle                          | readTokens (none)             | signedOut+idle
reading+idle                          | readTokens fails              | unread+idle
reading+idle (no person)              | readTokens (1)                | signedIn+idle
reading+idle (no person)              | readTokens (ended)            | renewing+idle
reading+idle (no person)              | readTokens (none)             | renewing+idle
reading+idle (no person)              | readTokens fails              | unread+idle
renewing+idle (due)                   | renewToken (2)                | signedIn+idle
renewing+idle (due)                   | renewToken (none)             | signedIn+idle
renewing+idle (due)                   | renewToken fails              | signedIn+idle
renewing+idle (ended)                 | renewToken (2)                | signedIn+idle
renewing+idle (ended)                 | renewToken (none)             | signedIn+idle
renewing+idle (ended)                 | renewToken fails              | signedIn+idle
renewing+idle (refused)               | renewToken (2)                | signedIn+idle
renewing+idle (refused)               | renewToken (none)             | signedIn+idle
renewing+idle (refused)               | renewToken fails              | signedIn+idle
renewing+idle (due, then refused)     | renewToken (2)                | signedIn+idle
renewing+idle (due, then refused)     | renewToken (none)             | signedIn+idle
renewing+idle (due, then refused)     | renewToken fails              | signedIn+idle
renewing+idle (no person, demanded)   | renewToken (2)                | signedIn+idle
renewing+idle (no person, demanded)   | renewToken (none)             | signedIn+idle
renewing+idle (no person, demanded)   | renewToken fails              | signedIn+idle
signedOut+looking                     | lookForOther (found)          | unread+signedIn
signedOut+looking                     | lookForOther (nobody)         | signedOut+opening
signedOut+looking                     | lookForOther fails            | signedOut+refused
signedOut+looking (two wait)          | lookForOther (found)          | unread+signedIn
signedOut+looking (two wait)          | lookForOther (nobody)         | signedOut+opening
signedOut+looking (two wait)          | lookForOther fails            | signedOut+refused
signedIn+looking (adopted)            | lookForOther (found)          | unread+signedIn
signedIn+looking (adopted)            | lookForOther (nobody)         | renewing+renewing
signedIn+looking (adopted)            | lookForOther fails            | signedIn+refused
signedIn+looking (no person)          | lookForOther (found)          | unread+signedIn
signedIn+looking (no person)          | lookForOther (nobody)         | renewing+renewing
signedIn+looking (no person)          | lookForOther fails            | signedIn+refused
unread+looking (no person)            | lookForOther (found)          | unread+signedIn
unread+looking (no person)            | lookForOther (nobody)         | renewing+renewing
unread+looking (no person)            | lookForOther fails            | unread+refused
reading+looking (no person)           | lookForOther (found)          | reading+signedIn
reading+looking (no person)           | lookForOther (nobody)         | renewing+renewing
reading+looking (no person)           | lookForOther fails            | reading+refused
reading+looking (no person)           | readTokens (1)                | signedIn+looking
reading+looking (no person)           | readTokens (ended)            | renewing+looking
reading+looking (no person)           | readTokens (none)             | renewing+looking
reading+looking (no person)           | readTokens fails              | unread+looking
renewing+renewing                     | renewToken (2)                | unread+signedIn
renewing+renewing                     | renewToken (none)             | signedIn+opening
renewing+renewing                     | renewToken fails              | signedIn+refused
renewing+renewing (two wait)          | renewToken (2)                | unread+signedIn
renewing+renewing (two wait)          | renewToken (none)             | signedIn+opening
renewing+renewing (two wait)          | renewToken fails              | signedIn+refused
renewing+renewing (no person)         | renewToken (2)                | unread+signedIn
renewing+renewing (no person)         | renewToken (none)             | unread+signedIn
renewing+renewing (no person)         | renewToken fails              | signedIn+refused
renewing+renewing (due)               | renewToken (2)                | unread+signedIn
renewing+renewing (due)               | renewToken (none)             | signedIn+opening
renewing+renewing (due)               | renewToken fails              | signedIn+refused
signedOut+discovering                 | beginSignIn (asked)           | signedOut+waitingForPerson
signedOut+discovering                 | beginSignIn (granted)         | unread+signedIn
signedOut+discovering                 | beginSignIn fails             | signedOut+refused
signedOut+waitingForPerson            | askPerson                     | signedOut+waitingForPerson
signedOut+waitingForPerson            | askPerson fails               | signedOut+refused
signedOut+waitingForPerson (two wait) | askPerson                     | signedOut+waitingForPerson
signedOut+waitingForPerson (two wait) | askPerson fails               | signedOut+refused
renewing+waitingForPerson             | askPerson                     | renewing+waitingForPerson
renewing+waitingForPerson             | askPerson fails               | renewing+refused
renewing+waitingForPerson             | renewToken (2)                | signedIn+waitingForPerson
renewing+waitingForPerson             | renewToken (none)             | signedIn+waitingForPerson
renewing+waitingForPerson             | renewToken fails              | signedIn+waitingForPerson
signedOut+exchanging                  | askPerson                     | signedOut+exchanging
signedOut+exchanging                  | askPerson fails               | signedOut+refused
signedOut+exchanging                  | exchangeCode (exchanged)      | unread+signedIn
signedOut+exchanging                  | exchangeCode (client refused) | signedOut+droppingClient
signedOut+exchanging                  | exchangeCode fails            | signedOut+waitingForPerson
signedOut+exchanging (two answers)    | askPerson                     | signedOut+exchanging
signedOut+exchanging (two answers)    | askPerson fails               | signedOut+refused
signedOut+exchanging (two answers)    | exchangeCode (exchanged)      | unread+signedIn
signedOut+exchanging (two answers)    | exchangeCode (client refused) | signedOut+droppingClient
signedOut+exchanging (two answers)    | exchangeCode fails            | signedOut+exchanging
signedOut+droppingClient              | askPerson                     | signedOut+droppingClient
signedOut+droppingClient              | askPerson fails               | signedOut+refused
signedOut+droppingClient              | dropClient                    | signedOut+refused
signedOut+droppingClient              | dropClient fails              | signedOut+refused
finishing+closed                      | finishWork                    | closed+closed
finishing+closed                      | finishWork fails              | closed+closed
cutting+closed                        | cutWork                       | closed+closed
cutting+closed                        | cutWork fails                 | closed+closed
`);

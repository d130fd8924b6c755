/**
 * What the connection chart does, as a table of every state against every event. Written from the design, not from
 * the chart; the states and circumstances are those of `connection.situations.ts`.
 *
 * A cell is the path of the next state, or:
 * - `stays`: it is obeyed without leaving the state;
 * - `ignored`: it asks for what is already so, and changes nothing;
 * - `guarded`: it is known here and refused now;
 * - `-`: nothing here knows it.
 */
import { readTable } from '../support/text-table.js';

/** Columns without a dot are commands of a connection, in short. */
export const COMMANDS = readTable(`
situation                                    | start                  | stop                  | retry                  | restart               | refresh                  | reload                | trust.granted         | trust.denied
---------------------------------------------|------------------------|-----------------------|------------------------|-----------------------|--------------------------|-----------------------|-----------------------|-----------------
configuring.resolving                        | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
configuring.resolving (lazy)                 | stays                  | shuttingDown.draining | -                      | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
configuring.awaitingTrust                    | ignored                | shuttingDown.draining | configuring.resolving  | shuttingDown.draining | -                        | shuttingDown.draining | configuring.resolving | failed.releasing
configuring.awaitingTrust (lazy)             | stays                  | shuttingDown.draining | configuring.resolving  | shuttingDown.draining | -                        | shuttingDown.draining | configuring.resolving | failed.releasing
configuring.dormant                          | configuring.resolving  | shuttingDown.draining | -                      | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
launching.waitingForSlot                     | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
launching.opening                            | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
launching.opening (last attempt)             | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
handshaking.initializing                     | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
handshaking.initializing (last attempt)      | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
handshaking.listing                          | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
handshaking.listing (last attempt)           | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
handshaking.authorizing                      | ignored                | shuttingDown.draining | reconnecting.releasing | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
handshaking.authorizing (remote)             | ignored                | shuttingDown.draining | reconnecting.releasing | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
ready.resting+current (enriching)            | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | ready.resting+refreshing | shuttingDown.draining | -                     | -
ready.resting+current                        | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | ready.resting+refreshing | shuttingDown.draining | -                     | -
ready.resting+current (last attempt)         | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | ready.resting+refreshing | shuttingDown.draining | -                     | -
ready.resting+current (crash loop)           | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | ready.resting+refreshing | shuttingDown.draining | -                     | -
ready.probing+current                        | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | ready.probing+refreshing | shuttingDown.draining | -                     | -
ready.suspect+current                        | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | ready.suspect+refreshing | shuttingDown.draining | -                     | -
ready.suspect+current (last attempt)         | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | ready.suspect+refreshing | shuttingDown.draining | -                     | -
ready.resting+debouncing                     | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | ready.resting+refreshing | shuttingDown.draining | -                     | -
ready.resting+debouncing (for long)          | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | ready.resting+refreshing | shuttingDown.draining | -                     | -
ready.resting+refreshing                     | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | ignored                  | shuttingDown.draining | -                     | -
ready.resting+refreshing (changed meanwhile) | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | ignored                  | shuttingDown.draining | -                     | -
ready.resting+stale                          | ignored                | shuttingDown.draining | -                      | shuttingDown.draining | ready.resting+refreshing | shuttingDown.draining | -                     | -
reconnecting.releasing                       | ignored                | shuttingDown.draining | stays                  | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
reconnecting.releasing (remote, offline)     | ignored                | shuttingDown.draining | stays                  | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
reconnecting.backingOff                      | ignored                | shuttingDown.draining | configuring.resolving  | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
reconnecting.backingOff (remote)             | ignored                | shuttingDown.draining | configuring.resolving  | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
reconnecting.offline                         | ignored                | shuttingDown.draining | configuring.resolving  | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
failed.releasing                             | reconnecting.releasing | shuttingDown.draining | reconnecting.releasing | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
failed.settled                               | configuring.resolving  | shuttingDown.draining | configuring.resolving  | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
failed.settled (not released)                | reconnecting.releasing | shuttingDown.draining | reconnecting.releasing | shuttingDown.draining | -                        | shuttingDown.draining | -                     | -
shuttingDown.draining (to stop)              | guarded                | shuttingDown.closing  | -                      | guarded               | -                        | guarded               | -                     | -
shuttingDown.draining (to restart)           | ignored                | stays                 | -                      | ignored               | -                        | stays                 | -                     | -
shuttingDown.draining (to rest)              | stays                  | stays                 | -                      | stays                 | -                        | stays                 | -                     | -
shuttingDown.closing (to stop)               | guarded                | shuttingDown.killing  | -                      | guarded               | -                        | guarded               | -                     | -
shuttingDown.closing (to restart)            | ignored                | stays                 | -                      | ignored               | -                        | stays                 | -                     | -
shuttingDown.closing (to rest)               | stays                  | stays                 | -                      | stays                 | -                        | stays                 | -                     | -
shuttingDown.killing (to stop)               | guarded                | ignored               | -                      | guarded               | -                        | guarded               | -                     | -
shuttingDown.killing (to restart)            | ignored                | stays                 | -                      | ignored               | -                        | stays                 | -                     | -
shuttingDown.killing (to rest)               | stays                  | stays                 | -                      | stays                 | -                        | stays                 | -                     | -
stopped                                      | stopped                | stopped               | stopped                | stopped               | stopped                  | stopped               | stopped               | stopped
`);

/** A lost session comes with a failure, whose verdict is in the column. */
export const FACTS = readTable(`
situation                                    | slot.granted      | network.online          | network.offline      | lost: retry            | lost: renew            | lost: authorize         | lost: permanent  | session.stable | session.idle          | session.quiet         | catalog.listChanged
---------------------------------------------|-------------------|-------------------------|----------------------|------------------------|------------------------|-------------------------|------------------|----------------|-----------------------|-----------------------|-------------------------
configuring.resolving                        | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
configuring.resolving (lazy)                 | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
configuring.awaitingTrust                    | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
configuring.awaitingTrust (lazy)             | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
configuring.dormant                          | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
launching.waitingForSlot                     | launching.opening | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
launching.opening                            | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
launching.opening (last attempt)             | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
handshaking.initializing                     | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
handshaking.initializing (last attempt)      | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
handshaking.listing                          | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
handshaking.listing (last attempt)           | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
handshaking.authorizing                      | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
handshaking.authorizing (remote)             | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
ready.resting+current (enriching)            | -                 | stays                   | stays                | reconnecting.releasing | reconnecting.releasing | handshaking.authorizing | failed.releasing | stays          | shuttingDown.draining | ready.probing+current | ready.resting+debouncing
ready.resting+current                        | -                 | stays                   | stays                | reconnecting.releasing | reconnecting.releasing | handshaking.authorizing | failed.releasing | stays          | shuttingDown.draining | ready.probing+current | ready.resting+debouncing
ready.resting+current (last attempt)         | -                 | stays                   | stays                | failed.releasing       | failed.releasing       | handshaking.authorizing | failed.releasing | stays          | shuttingDown.draining | ready.probing+current | ready.resting+debouncing
ready.resting+current (crash loop)           | -                 | stays                   | stays                | failed.releasing       | failed.releasing       | handshaking.authorizing | failed.releasing | stays          | shuttingDown.draining | ready.probing+current | ready.resting+debouncing
ready.probing+current                        | -                 | stays                   | stays                | reconnecting.releasing | reconnecting.releasing | handshaking.authorizing | failed.releasing | stays          | shuttingDown.draining | -                     | ready.probing+debouncing
ready.suspect+current                        | -                 | stays                   | stays                | reconnecting.releasing | reconnecting.releasing | handshaking.authorizing | failed.releasing | stays          | shuttingDown.draining | -                     | ready.suspect+debouncing
ready.suspect+current (last attempt)         | -                 | stays                   | stays                | failed.releasing       | failed.releasing       | handshaking.authorizing | failed.releasing | stays          | shuttingDown.draining | -                     | ready.suspect+debouncing
ready.resting+debouncing                     | -                 | stays                   | stays                | reconnecting.releasing | reconnecting.releasing | handshaking.authorizing | failed.releasing | stays          | shuttingDown.draining | ready.probing+debouncing | stays
ready.resting+debouncing (for long)          | -                 | stays                   | stays                | reconnecting.releasing | reconnecting.releasing | handshaking.authorizing | failed.releasing | stays          | shuttingDown.draining | ready.probing+debouncing | stays
ready.resting+refreshing                     | -                 | stays                   | stays                | reconnecting.releasing | reconnecting.releasing | handshaking.authorizing | failed.releasing | stays          | shuttingDown.draining | ready.probing+refreshing | stays
ready.resting+refreshing (changed meanwhile) | -                 | stays                   | stays                | reconnecting.releasing | reconnecting.releasing | handshaking.authorizing | failed.releasing | stays          | shuttingDown.draining | ready.probing+refreshing | stays
ready.resting+stale                          | -                 | stays                   | stays                | reconnecting.releasing | reconnecting.releasing | handshaking.authorizing | failed.releasing | stays          | shuttingDown.draining | ready.probing+stale   | ready.resting+debouncing
reconnecting.releasing                       | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
reconnecting.releasing (remote, offline)     | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
reconnecting.backingOff                      | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
reconnecting.backingOff (remote)             | -                 | stays                   | reconnecting.offline | -                      | -                      | -                       | -                | -              | -                     | -                     | -
reconnecting.offline                         | -                 | reconnecting.backingOff | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
failed.releasing                             | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
failed.settled                               | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
failed.settled (not released)                | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
shuttingDown.draining (to stop)              | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
shuttingDown.draining (to restart)           | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
shuttingDown.draining (to rest)              | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
shuttingDown.closing (to stop)               | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
shuttingDown.closing (to restart)            | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
shuttingDown.closing (to rest)               | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
shuttingDown.killing (to stop)               | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
shuttingDown.killing (to restart)            | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
shuttingDown.killing (to rest)               | -                 | stays                   | stays                | -                      | -                      | -                       | -                | -              | -                     | -                     | -
stopped                                      | stopped           | stopped                 | stopped              | stopped                | stopped                | stopped                 | stopped          | stopped        | stopped               | stopped               | stopped
`);

/** What comes of every effect that runs in a state, when it succeeds and when it fails, by the verdict on the failure. */
export const EFFECTS = readTable(`
situation                                    | effect                    | done                     | retry                    | renew                    | authorize                | permanent
---------------------------------------------|---------------------------|--------------------------|--------------------------|--------------------------|--------------------------|-------------------------
configuring.resolving                        | resolveConfig             | launching.waitingForSlot | failed.releasing         | failed.releasing         | failed.releasing         | failed.releasing
configuring.resolving                        | resolveConfig (untrusted) | configuring.awaitingTrust |                         |                          |                          |
configuring.resolving (lazy)                 | resolveConfig             | launching.waitingForSlot | failed.releasing         | failed.releasing         | failed.releasing         | failed.releasing
configuring.resolving (lazy)                 | resolveConfig (dormant)   | configuring.dormant      |                          |                          |                          |
launching.opening                            | openTransport             | handshaking.initializing | reconnecting.releasing   | reconnecting.releasing   | handshaking.authorizing  | failed.releasing
launching.opening (last attempt)             | openTransport             | handshaking.initializing | failed.releasing         | failed.releasing         | handshaking.authorizing  | failed.releasing
handshaking.initializing                     | handshake                 | handshaking.listing      | reconnecting.releasing   | reconnecting.releasing   | handshaking.authorizing  | failed.releasing
handshaking.initializing (last attempt)      | handshake                 | handshaking.listing      | failed.releasing         | failed.releasing         | handshaking.authorizing  | failed.releasing
handshaking.listing                          | listTools                 | ready.resting+current    | reconnecting.releasing   | reconnecting.releasing   | handshaking.authorizing  | failed.releasing
handshaking.listing (last attempt)           | listTools                 | ready.resting+current    | failed.releasing         | failed.releasing         | handshaking.authorizing  | failed.releasing
handshaking.authorizing                      | authorize                 | launching.waitingForSlot | failed.releasing         | failed.releasing         | failed.releasing         | failed.releasing
handshaking.authorizing (remote)             | authorize                 | launching.opening        | failed.releasing         | failed.releasing         | failed.releasing         | failed.releasing
ready.resting+current (enriching)            | enrichCatalog             | stays                    | stays                    | stays                    | stays                    | stays
ready.probing+current                        | probe                     | ready.resting+current    | ready.suspect+current    | ready.suspect+current    | ready.suspect+current    | ready.suspect+current
ready.suspect+current                        | probe                     | ready.resting+current    | reconnecting.releasing   | reconnecting.releasing   | handshaking.authorizing  | failed.releasing
ready.suspect+current (last attempt)         | probe                     | ready.resting+current    | failed.releasing         | failed.releasing         | handshaking.authorizing  | failed.releasing
ready.resting+refreshing                     | listTools                 | ready.resting+current    | ready.resting+stale      | ready.resting+stale      | ready.resting+stale      | ready.resting+stale
ready.resting+refreshing (changed meanwhile) | listTools                 | ready.resting+debouncing | ready.resting+debouncing | ready.resting+debouncing | ready.resting+debouncing | ready.resting+debouncing
reconnecting.releasing                       | releaseSession            | reconnecting.backingOff  | failed.releasing         | failed.releasing         | failed.releasing         | failed.releasing
reconnecting.releasing (remote, offline)     | releaseSession            | reconnecting.offline     | failed.releasing         | failed.releasing         | failed.releasing         | failed.releasing
failed.releasing                             | releaseSession            | failed.settled           | failed.settled           | failed.settled           | failed.settled           | failed.settled
shuttingDown.draining (to stop)              | drainCalls                | shuttingDown.closing     | shuttingDown.closing     | shuttingDown.closing     | shuttingDown.closing     | shuttingDown.closing
shuttingDown.draining (to restart)           | drainCalls                | shuttingDown.closing     | shuttingDown.closing     | shuttingDown.closing     | shuttingDown.closing     | shuttingDown.closing
shuttingDown.draining (to rest)              | drainCalls                | shuttingDown.closing     | shuttingDown.closing     | shuttingDown.closing     | shuttingDown.closing     | shuttingDown.closing
shuttingDown.closing (to stop)               | closeSession              | stopped                  | shuttingDown.killing     | shuttingDown.killing     | shuttingDown.killing     | shuttingDown.killing
shuttingDown.closing (to restart)            | closeSession              | configuring.resolving    | shuttingDown.killing     | shuttingDown.killing     | shuttingDown.killing     | shuttingDown.killing
shuttingDown.closing (to rest)               | closeSession              | configuring.dormant      | shuttingDown.killing     | shuttingDown.killing     | shuttingDown.killing     | shuttingDown.killing
shuttingDown.killing (to stop)               | killSession               | stopped                  | stopped                  | stopped                  | stopped                  | stopped
shuttingDown.killing (to restart)            | killSession               | configuring.resolving    | failed.releasing         | failed.releasing         | failed.releasing         | failed.releasing
shuttingDown.killing (to rest)               | killSession               | configuring.dormant      | failed.releasing         | failed.releasing         | failed.releasing         | failed.releasing
`);

/** What comes of every timer that runs in a state. */
export const TIMERS = readTable(`
situation                           | timer               | ms   | next
------------------------------------|---------------------|------|-------------------------
ready.resting+debouncing            | listChangedDebounce | 300  | ready.resting+refreshing
ready.resting+debouncing (for long) | listChangedDebounce | 300  | ready.resting+refreshing
reconnecting.backingOff             | backoffDelay        | 1000 | configuring.resolving
reconnecting.backingOff (remote)    | backoffDelay        | 1000 | configuring.resolving
`);

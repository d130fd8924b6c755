/** Transitions that no process can cause, with the reason. The suite fails if one of them is taken. */
const NEEDS_NO_SERVER =
  'Adopting the list does not involve the server: it fails only by a bug, and a bug is permanent.';
const ENTRY_IS_READ =
  'Reading an entry fails only if the entry is wrong: that is permanent, and no sign-in fixes it.';

const ADOPTING = 'connection.starting.handshaking.adopting: xstate.error.actor.adoptTools';
const PREPARING = 'connection.ready.succession.preparing.resolving';

export const EXEMPT: Readonly<Record<string, string>> = {
  'connection.configuring.resolving: xstate.error.actor.resolveConfig, branch 0, to connection.failed.exhausted':
    ENTRY_IS_READ,
  [`${ADOPTING}, branch 0, to connection.failed.permanent`]: NEEDS_NO_SERVER,
  [`${ADOPTING}, branch 1, to connection.configuring.authorizing`]: NEEDS_NO_SERVER,
  [`${ADOPTING}, branch 3, to connection.failed.exhausted`]: NEEDS_NO_SERVER,
  [`${ADOPTING}, branch 4, to connection.reconnecting`]: NEEDS_NO_SERVER,
  'connection.ready: session.lost, branch 4, to connection.failed.permanent':
    'Everything that ends a ready session (an exit, a broken stream, an expired session, a refused token) is transient.',
  'connection.ready.liveness.suspect: xstate.error.actor.probeAgain, branch 4, to connection.failed.permanent':
    'A server that refuses a ping for good has answered it, and any other miss is transient.',
  [`${PREPARING}: xstate.error.actor.resolveSuccessor, branch 0, to connection.shuttingDown.purpose.reloading`]:
    ENTRY_IS_READ,
};

// A minimal viewer of Stately's protocol: the receiver of Stately's package, and what it received.
import { createBrowserReceiver } from '@statelyai/inspect';

const shown = { actors: [], states: {} };
globalThis.shown = shown;

createBrowserReceiver().subscribe((message) => {
  if (message.type === '@xstate.actor') shown.actors.push(message.name);
  if (message.snapshot !== undefined)
    shown.states[message.sessionId] = `${message.snapshot.status} ${JSON.stringify(message.snapshot.value)}`;
});

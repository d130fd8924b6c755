// A viewer of Stately's protocol, as small as can be: the receiver of their package, and what it received.
import { createBrowserReceiver } from '@statelyai/inspect';

const shown = { actors: [], states: {} };
globalThis.shown = shown;

createBrowserReceiver().subscribe((message) => {
  if (message.type === '@xstate.actor') shown.actors.push(message.name);
  if (message.snapshot !== undefined)
    shown.states[message.sessionId] = `${message.snapshot.status} ${JSON.stringify(message.snapshot.value)}`;
});

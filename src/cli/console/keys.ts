/** The keys of the console and what they do. */
import type { Move, Page } from './console-state.js';

export type ServerCommand = 'retry' | 'restart' | 'stop or start';

export type Action =
  | { readonly type: 'move'; readonly by: Move }
  | { readonly type: 'open'; readonly page: Page }
  | { readonly type: 'command'; readonly command: ServerCommand }
  | { readonly type: 'back' }
  | { readonly type: 'quit' };

interface Binding {
  /** As readline names them, or the character. */
  readonly keys: readonly string[];
  readonly shown: string;
  readonly meaning: string;
  readonly action: Action;
}

const to = (by: Move): Action => ({ type: 'move', by });
const page = (name: Page): Action => ({ type: 'open', page: name });
const command = (name: ServerCommand): Action => ({ type: 'command', command: name });

export const BINDINGS: readonly Binding[] = [
  { keys: ['up', 'k'], shown: '↑ k', meaning: 'the server above, or a line up', action: to('up') },
  { keys: ['down', 'j'], shown: '↓ j', meaning: 'the server below, or a line down', action: to('down') },
  { keys: ['pageup', 'b'], shown: 'PageUp b', meaning: 'a page up', action: to('pageUp') },
  { keys: ['pagedown', 'space'], shown: 'PageDown Space', meaning: 'a page down', action: to('pageDown') },
  { keys: ['home', 'g'], shown: 'Home g', meaning: 'to the start', action: to('first') },
  { keys: ['end', 'G'], shown: 'End G', meaning: 'to the end; the log follows', action: to('last') },
  {
    keys: ['return', 'enter', 'd'],
    shown: 'Enter d',
    meaning: 'details: why it is like this',
    action: page('details'),
  },
  { keys: ['l'], shown: 'l', meaning: 'its log, as it is written', action: page('log') },
  { keys: ['t'], shown: 't', meaning: 'its tools', action: page('tools') },
  { keys: ['r'], shown: 'r', meaning: 'retry now', action: command('retry') },
  { keys: ['s'], shown: 's', meaning: 'stop it, or start it', action: command('stop or start') },
  {
    keys: ['R'],
    shown: 'R',
    meaning: 'restart it: end its session, make a new one',
    action: command('restart'),
  },
  { keys: ['escape', 'backspace'], shown: 'Esc', meaning: 'back', action: { type: 'back' } },
  { keys: ['?'], shown: '?', meaning: 'this help', action: page('help') },
  {
    keys: ['q'],
    shown: 'q Ctrl-C',
    meaning: 'stop all servers and end; again: at once',
    action: { type: 'quit' },
  },
];

const ACTIONS: ReadonlyMap<string, Action> = new Map(
  BINDINGS.flatMap(({ keys, action }) => keys.map((key) => [key, action] as const)),
);

/** Undefined for a key without a meaning. */
export function actionOf(key: string): Action | undefined {
  return ACTIONS.get(key);
}

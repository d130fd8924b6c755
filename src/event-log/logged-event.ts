/** Events on their way into a log and out of it: as JSON, where an `Error` keeps its name and its message. */
import type { EventObject } from 'xstate';
import { isObject, textOf, type LoggedEvent } from './entry.js';

/** Stands for what was sent and is no event, as only a bug sends it: an actor dies of it, and does so again. */
const NO_EVENT = 'troupe.noEvent';

export function toLogged(event: unknown): LoggedEvent {
  if (!isObject(event) || typeof event['type'] !== 'string') return { type: NO_EVENT };
  const { error } = event;
  const isPlain = !(error instanceof Error);
  return (isPlain ? event : { ...event, error: { $error: namesOf(error) } }) as LoggedEvent;
}

export function fromLogged(event: LoggedEvent): EventObject {
  const { error, type } = event;
  if (type === NO_EVENT) return null as unknown as EventObject;
  if (!isObject(error) || !isObject(error['$error'])) return event;
  const { name, message } = error['$error'];
  const restored = new Error(textOf(message));
  restored.name = textOf(name);
  return Object.assign({ ...event }, { error: restored });
}

function namesOf({ name, message }: Error): object {
  return { name, message };
}

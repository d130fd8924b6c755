/** In an open entry: the content of a message, and the way to the call that it belongs to. */
import { isJsonObject } from '../../../src/json/json-object.js';
import type { EntryView } from '../log/desk-messages.js';
import { useAnswer, usePage, usePageContext } from '../state/page-context.js';
import { Payload } from './payload.js';

export function OfCall({ entry }: { entry: EntryView }) {
  const { state } = usePageContext();
  const { call } = usePage();
  const isAsked = entry.category === 'call' || entry.category === 'wire';
  const given = useAnswer('callAt', isAsked ? { position: entry.position } : undefined);
  const number = given?.ask.position === entry.position ? given.answer : undefined;
  const body = bodyOf(entry.json);
  return (
    <>
      {number !== undefined && (
        <p>
          It belongs to call {number}.{' '}
          {call === number ? (
            'The marked entries are the others of this call.'
          ) : (
            <button type="button" class="link" onClick={() => state.change({ call: number })}>
              Mark its entries
            </button>
          )}{' '}
          <button type="button" class="link" onClick={() => state.change({ call: number, view: 'calls' })}>
            Follow the call
          </button>
        </p>
      )}
      {body !== undefined && <Payload title="Content" value={body} />}
    </>
  );
}

/** Without the envelope of JSON-RPC. */
function bodyOf(json: unknown): unknown {
  const note = isJsonObject(json) ? json['note'] : undefined;
  const body = isJsonObject(note) ? note['body'] : undefined;
  if (!isJsonObject(body)) return body;
  return body['params'] ?? body['result'] ?? body['error'] ?? body;
}

/** The content of a request or an answer. Long texts are shortened until they are asked for. */
import { useState } from 'preact/hooks';
import { visibleText } from '../../../src/text/visible-text.js';
import { count } from '../state/times.js';
import { beginning, payloadParts } from './payload-parts.js';

export function Payload({ title, value }: { title: string; value: unknown }) {
  return (
    <section class="payload">
      <h3>{title}</h3>
      {value === undefined ? (
        <p class="muted">
          Not recorded. <code>--record-bodies</code> records contents, with secrets masked.
        </p>
      ) : value === null ? (
        <p class="muted">Not recorded: it is longer than 256 KiB.</p>
      ) : (
        payloadParts(value).map((part, index) => <Part key={index} {...part} />)
      )}
    </section>
  );
}

function Part({ title, text }: { title: string; text: string }) {
  const [isWhole, setWhole] = useState(false);
  const short = beginning(text);
  const shown = isWhole ? text : (short ?? text);
  return (
    <div class="payload-part">
      <small class="muted">{title}</small>
      <pre tabIndex={0} aria-label={title}>
        {shown.replaceAll(/[^\n\t]+/gu, visibleText)}
        {short !== undefined && !isWhole && '…'}
      </pre>
      {short !== undefined && (
        <button type="button" class="link" onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${count(text.length)} characters`}
        </button>
      )}
    </div>
  );
}

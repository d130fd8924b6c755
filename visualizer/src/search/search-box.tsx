/** The input of a search, the fields that it knows, and what was not understood. */
import { useRef } from 'preact/hooks';
import { laneTitle } from '../log/lane-names.js';
import { nearestName } from '../../../src/text/option-names.js';
import { parseQuery, termOf, withField, type QueryProblem } from './query.js';

export interface SearchBoxProps {
  readonly label: string;
  readonly placeholder: string;
  readonly text: string;
  readonly fields: readonly string[];
  readonly onText: (text: string) => void;
}

export function SearchBox({ label, placeholder, text, fields, onText }: SearchBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div class="search">
      <label>
        <span class="sr-only">{label}</span>
        <input
          ref={input}
          type="search"
          placeholder={placeholder}
          value={text}
          onInput={({ currentTarget }) => onText(currentTarget.value)}
        />
      </label>
      {text === '' && (
        <div class="search-fields">
          <span>Words of a row, or</span>
          {fields.map((field) => (
            <button
              key={field}
              type="button"
              class="chip"
              // The person can also type it.
              tabIndex={-1}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => {
                onText(`${field}:`);
                input.current?.focus();
              }}
            >
              {field}:
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** What was not understood, each with a correction. */
export function SearchHints(
  props: Omit<SearchBoxProps, 'label' | 'placeholder'> & { lanes: readonly string[] },
) {
  const { text, fields, onText, lanes } = props;
  const { terms, problems } = parseQuery(text, fields);
  const titles = lanes.map(laneTitle);
  const known = new Set(['manager', ...titles.map((title) => title.toLowerCase())]);
  const unknown = terms.filter(
    ({ field, value }) => field === 'connection' && !value.includes('*') && !known.has(value),
  );
  if (problems.length === 0 && unknown.length === 0) return null;
  return (
    <div class="search-hints" role="status">
      {problems.map((problem) => (
        <FieldHint key={problem.field} {...{ problem, fields, text, onText }} />
      ))}
      {unknown.map(({ value }) => {
        const meant =
          titles.find((title) => title.toLowerCase().startsWith(value)) ?? nearestName(value, titles);
        return (
          <p key={value}>
            No connection is named <b>{value}</b>.{' '}
            {meant !== undefined && (
              <>
                Did you mean{' '}
                <button type="button" class="link" onClick={() => onText(withConnection(text, value, meant))}>
                  {meant}
                </button>
                ?
              </>
            )}
          </p>
        );
      })}
    </div>
  );
}

function FieldHint(props: { problem: QueryProblem } & Pick<SearchBoxProps, 'fields' | 'text' | 'onText'>) {
  const { problem, fields, text, onText } = props;
  const { field, meant } = problem;
  return (
    <p>
      There is no field <b>{field}</b>.{' '}
      {meant === undefined ? (
        `The fields are ${fields.join(', ')}. To search for the text itself, put it in quotes.`
      ) : (
        <>
          Did you mean{' '}
          <button type="button" class="link" onClick={() => onText(withField(text, problem))}>
            {meant}:
          </button>
          ?
        </>
      )}
    </p>
  );
}

/** The value as it was typed may have other letters. */
function withConnection(text: string, value: string, meant: string): string {
  const at = text.toLowerCase().indexOf(`connection:${value}`);
  return at === -1
    ? termOf('connection', meant)
    : `${text.slice(0, at)}${termOf('connection', meant)}${text.slice(at + `connection:${value}`.length)}`;
}

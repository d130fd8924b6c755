/**
 * A value of JSON that is opened and closed piece by piece. Invisible characters are shown by their code point. With the
 * names of a chart, its fields, times and durations are in words.
 */
import { visibleText } from '../../../src/text/visible-text.js';
import { valueWords } from '../words/values.js';
import type { Names } from '../words/names.js';
import { Opening } from './fold.js';

export interface JsonTreeProps {
  readonly value: unknown;
  readonly name?: string | undefined;
  readonly isOpen?: boolean;
  /** Whether the values in it are open as well. */
  readonly isDeep?: boolean;
  /** Default: names and values as they are. */
  readonly names?: Names;
}

export function JsonTree({ value, name, isOpen = true, isDeep = false, names }: JsonTreeProps) {
  const isNode = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  const title = <JsonName {...{ name, names, end: isNode ? ' ' : ': ' }} />;
  if (typeof value !== 'object' || value === null)
    return (
      <div class="json-leaf">
        {title}
        <JsonValue {...{ name, value, names }} />
      </div>
    );
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  const [start, end] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0)
    return (
      <div class="json-leaf">
        {title}
        <span class="muted">
          {start}
          {end}
        </span>
      </div>
    );
  // The items of a list are what its name says.
  const isList = Array.isArray(value);
  return (
    <Opening
      class="json-node"
      isOpen={isOpen}
      summary={
        <>
          {title}
          <span class="muted">
            {start}
            {entries.length}
            {end}
          </span>
        </>
      }
    >
      {() =>
        entries.map(([key, below]) =>
          isList && (typeof below !== 'object' || below === null) ? (
            <div key={key} class="json-leaf">
              <JsonName name={key} />
              <JsonValue {...{ name, value: below, names }} />
            </div>
          ) : (
            <JsonTree key={key} name={key} value={below} isOpen={isDeep} {...(names && { names })} />
          ),
        )
      }
    </Opening>
  );
}

interface JsonPart {
  readonly name?: string | undefined;
  readonly names?: Names | undefined;
}

function JsonName({ name, names, end = ': ' }: JsonPart & { readonly end?: string }) {
  if (name === undefined) return null;
  const words = names?.field(name) ?? name;
  return (
    <span class="json-name" {...(words !== name && { title: name })}>
      {words}
      {end}
    </span>
  );
}

export function JsonValue({ name, value, names }: JsonPart & { readonly value: unknown }) {
  if (value === undefined) return <span class="muted">nothing</span>;
  const kind = value === null ? 'null' : typeof value;
  const json = visibleText(JSON.stringify(value));
  const words = names === undefined || names.isRaw ? undefined : valueWords(name, value);
  return (
    <span class={`json-${kind}`} {...(words !== undefined && { title: json })}>
      {words ?? json}
    </span>
  );
}

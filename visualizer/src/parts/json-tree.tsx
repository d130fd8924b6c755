/** A value of JSON that is opened and closed piece by piece. Invisible characters are shown by their code point. */
import { visibleText } from '../../../src/text/visible-text.js';
import { Times } from '../state/times.js';
import { Opening } from './fold.js';

export function JsonTree({
  value,
  name,
  isOpen = true,
  isDeep = false,
}: {
  value: unknown;
  name?: string;
  isOpen?: boolean;
  /** Whether the values in it are open as well. */
  isDeep?: boolean;
}) {
  if (typeof value !== 'object' || value === null)
    return (
      <div class="json-leaf">
        {name !== undefined && <span class="json-name">{name}: </span>}
        <JsonValue value={value} />
        {isTime(name, value) && <span class="muted"> {new Times(value, value).at(value)}</span>}
      </div>
    );
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value);
  const [start, end] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0)
    return (
      <div class="json-leaf">
        {name !== undefined && <span class="json-name">{name}: </span>}
        <span class="muted">
          {start}
          {end}
        </span>
      </div>
    );
  return (
    <Opening
      class="json-node"
      isOpen={isOpen}
      summary={
        <>
          {name !== undefined && <span class="json-name">{name} </span>}
          <span class="muted">
            {start}
            {entries.length}
            {end}
          </span>
        </>
      }
    >
      {() => entries.map(([key, below]) => <JsonTree key={key} name={key} value={below} isOpen={isDeep} />)}
    </Opening>
  );
}

/** A time since the epoch, which nobody can read. */
function isTime(name: string | undefined, value: unknown): value is number {
  return typeof value === 'number' && value > 1e12 && value < 1e14 && /^at$|At$/u.test(name ?? '');
}

export function JsonValue({ value }: { value: unknown }) {
  if (value === undefined) return <span class="muted">nothing</span>;
  const kind = value === null ? 'null' : typeof value;
  return <span class={`json-${kind}`}>{visibleText(JSON.stringify(value))}</span>;
}

/** Fields of two values that differ, side by side. */
import type { Difference } from '../state/difference.js';
import type { Names } from '../words/names.js';
import { JsonTree, JsonValue } from './json-tree.js';

export interface DifferenceTableProps {
  readonly label: string;
  readonly columns: readonly [before: string, after: string];
  readonly found: readonly Difference[];
  /** The names of the chart to which the fields belong. */
  readonly names: Names;
}

export function DifferenceTable({ label, columns, found, names }: DifferenceTableProps) {
  const [before, after] = columns;
  return (
    <div class="diff-scroll" tabIndex={0} role="group" aria-label={label}>
      <table class="diff">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">{before}</th>
            <th scope="col">{after}</th>
          </tr>
        </thead>
        <tbody>
          {found.map(({ path, before: was, after: is }) => (
            <tr key={path}>
              <th scope="row" class={names.isRaw ? 'mono' : ''} title={path}>
                {names.path(path)}
              </th>
              <td class="diff-before">
                <Shown name={path} value={was} names={names} />
              </td>
              <td class="diff-after">
                <Shown name={path} value={is} names={names} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Shown({ name, value, names }: { name: string; value: unknown; names: Names }) {
  return typeof value === 'object' && value !== null ? (
    <JsonTree value={value} isOpen={false} names={names} />
  ) : (
    <JsonValue name={name.split('.').at(-1)} value={value} names={names} />
  );
}

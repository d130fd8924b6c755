/** Fields of two values that differ, side by side. */
import type { Difference } from '../state/difference.js';
import { JsonTree, JsonValue } from './json-tree.js';

export interface DifferenceTableProps {
  readonly label: string;
  readonly columns: readonly [before: string, after: string];
  readonly found: readonly Difference[];
}

export function DifferenceTable({ label, columns, found }: DifferenceTableProps) {
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
              <th scope="row" class="mono">
                {path}
              </th>
              <td class="diff-before">
                <Shown value={was} />
              </td>
              <td class="diff-after">
                <Shown value={is} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Shown({ value }: { value: unknown }) {
  return typeof value === 'object' && value !== null ? (
    <JsonTree value={value} isOpen={false} />
  ) : (
    <JsonValue value={value} />
  );
}

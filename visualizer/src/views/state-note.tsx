/** What a chart says about one state, and what the marks of the picture mean. */
import type { Marks } from '../chart/chart-picture.js';
import type { PlacedBox } from '../chart/chart-layout.js';
import { Tooltip, type TooltipProps } from '../parts/tooltip.js';
import type { Names } from '../words/names.js';

interface StateNoteProps {
  readonly box: PlacedBox;
  readonly marks: Marks | undefined;
  readonly names: Names;
  readonly beside: TooltipProps['beside'];
}

export function StateNote({ box: { state, title }, marks, names, beside }: StateNoteProps) {
  const { entry, exit, invokes, tags, key, description } = state;
  const actions = (each: readonly string[]): readonly string[] => each.map((name) => names.action(name));
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['On entry', actions(entry)],
    ['On exit', actions(exit)],
    ['Runs', invokes.map((actor) => names.actor(actor))],
    ['Name', names.isRaw ? [] : [key]],
    ['Tags', names.isRaw ? tags : []],
  ];
  const visits = marks?.visits.get(state.id) ?? 0;
  return (
    <Tooltip class="chart-tooltip" beside={beside}>
      <strong>{title}</strong>
      {description !== null && <p>{description}</p>}
      <dl>
        {visits > 0 && (
          <div>
            <dt>Entered</dt>
            <dd>{visits}×</dd>
          </div>
        )}
        {lists.map(
          ([term, values]) =>
            values.length > 0 && (
              <div key={term}>
                <dt>{term}</dt>
                <dd>{values.join(', ')}</dd>
              </div>
            ),
        )}
      </dl>
    </Tooltip>
  );
}

export function Legend() {
  return (
    <ul class="chart-legend" aria-label="Legend">
      <li>
        <span class="legend-box active" aria-hidden="true" /> active
      </li>
      <li>
        <span class="legend-line taken" aria-hidden="true" /> taken last
      </li>
      <li>
        <span class="legend-text" aria-hidden="true">
          event
        </span>{' '}
        possible now
      </li>
      <li>
        <span class="muted">3×</span> times entered
      </li>
    </ul>
  );
}

/** The whole chart in small, with the visible part marked. */
import type { JSX } from 'preact';
import { toneOf } from './arrangements.js';
import type { PlacedChart } from './chart-layout.js';
import type { Lens } from './use-camera.js';

const WIDTH = 168;
const HEIGHT = 72;

export function Minimap({
  chart,
  lens,
  active,
}: {
  chart: PlacedChart;
  lens: Lens;
  active: ReadonlySet<string>;
}) {
  const { camera, size } = lens;
  const scale = Math.min(WIDTH / chart.width, HEIGHT / chart.height);
  const sight = {
    x: -camera.x / camera.zoom,
    y: -camera.y / camera.zoom,
    width: size.width / camera.zoom,
    height: size.height / camera.zoom,
  };
  function look(event: JSX.TargetedPointerEvent<SVGSVGElement>): void {
    if (event.buttons === 0) return;
    const { left, top } = event.currentTarget.getBoundingClientRect();
    lens.lookAt((event.clientX - left) / scale, (event.clientY - top) / scale);
  }
  return (
    <svg
      class="minimap"
      width={chart.width * scale}
      height={chart.height * scale}
      viewBox={`0 0 ${chart.width} ${chart.height}`}
      aria-hidden="true"
      onPointerDown={look}
      onPointerMove={look}
    >
      {chart.boxes
        .filter(({ depth, state }) => depth === 0 || active.has(state.id))
        .map(({ state, depth, x, y, width, height }) => (
          <rect
            key={state.id}
            class={`minimap-box tone-${depth === 0 ? toneOf(state.key) : 'plain'}${active.has(state.id) ? ' active' : ''}`}
            x={x}
            y={y}
            width={width}
            height={height}
            rx={14}
          />
        ))}
      <rect class="minimap-sight" {...sight} rx={8} />
    </svg>
  );
}

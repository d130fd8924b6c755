/** What a report says about the program and its machine. */
import type { LogReport } from '../../../src/event-log/format/report.js';

export function ReportNotice({ report }: { report: LogReport }) {
  const { versions, configuration, findings, about } = report;
  const { troupe, runtime, platform, os, ...others } = versions;
  const shown = [
    `troupe ${troupe}`,
    runtime,
    platform,
    os,
    ...Object.entries(others).map((pair) => pair.join(' ')),
  ];
  return (
    <details class="banner">
      <summary>
        <strong>A report</strong> of {shown.join(', ')}
      </summary>
      <pre class="mono small">{JSON.stringify({ configuration, findings, about }, null, 2)}</pre>
    </details>
  );
}

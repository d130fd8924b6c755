/** The tools of a server, as a model sees them. Asked for when they are others than before. */
import { useEffect, useState } from 'preact/hooks';
import type { InspectedTool } from '../../../src/inspection/protocol.js';
import { Fold } from '../parts/fold.js';
import { JsonTree } from '../parts/json-tree.js';
import { useTheater } from '../state/theater.js';

export function Tools({ name, count }: { name: string; count: number }) {
  const { runtime } = useTheater();
  const [tools, setTools] = useState<readonly InspectedTool[] | string>([]);
  useEffect(() => {
    let isOver = false;
    setTools([]);
    if (runtime === undefined || count === 0) return;
    runtime.tools(name).then(
      (found) => {
        if (!isOver) setTools(found);
      },
      (error: unknown) => {
        if (!isOver) setTools(error instanceof Error ? error.message : 'They cannot be read.');
      },
    );
    return () => {
      isOver = true;
    };
  }, [runtime, name, count]);
  if (count === 0) return null;
  return (
    <Fold title={`Tools (${count})`}>
      {typeof tools === 'string' ? (
        <p class="note bad">{tools}</p>
      ) : (
        tools.map((tool) => (
          <details key={tool.name} class="tool">
            <summary>
              <code>{tool.tool}</code> {tool.stale && <span class="tag">stale</span>}
              <span class="muted">{tool.title ?? ''}</span>
            </summary>
            <p class="tool-text">{tool.description ?? 'It has no description.'}</p>
            <p class="small muted">
              For a model: <code>{tool.name}</code>
            </p>
            <JsonTree name="input" value={tool.inputSchema} />
            {tool.outputSchema !== undefined && (
              <JsonTree name="output" value={tool.outputSchema} isOpen={false} />
            )}
            {tool.annotations !== undefined && <JsonTree name="annotations" value={tool.annotations} />}
          </details>
        ))
      )}
    </Fold>
  );
}

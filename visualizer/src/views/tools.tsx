/** The tools of a server, as a model sees them. Requested again when they change. */
import { useEffect, useState } from 'preact/hooks';
import type { InspectedStatus, InspectedTool } from '../../../src/inspector/page-protocol.js';
import { Fold, Opening } from '../parts/fold.js';
import { JsonTree } from '../parts/json-tree.js';
import { usePageContext } from '../state/page-context.js';

/** `catalog` changes whenever the list does. The review also affects which tools are shown. */
export function Tools({ status, catalog }: { status: InspectedStatus; catalog: string }) {
  const { runtime } = usePageContext();
  const { server, toolCount: count, state, review } = status;
  const [tools, setTools] = useState<readonly InspectedTool[] | string>([]);
  useEffect(() => {
    let isOver = false;
    if (runtime === undefined || count === 0) return;
    runtime.tools(server).then(
      (found) => {
        if (!isOver) setTools(found);
      },
      (error: unknown) => {
        if (!isOver) setTools(error instanceof Error ? error.message : 'The tools cannot be read.');
      },
    );
    return () => {
      isOver = true;
    };
  }, [runtime, server, count, state, catalog, JSON.stringify(review)]);
  if (count === 0 || runtime === undefined) return null;
  return (
    <Fold title={`Tools (${count})`}>
      {typeof tools === 'string' ? (
        <p class="note bad">{tools}</p>
      ) : (
        tools.map((tool) => <Tool key={tool.name} tool={tool} />)
      )}
    </Fold>
  );
}

function Tool({
  tool: { name, tool, stale, title, description, inputSchema, outputSchema, annotations },
}: {
  tool: InspectedTool;
}) {
  return (
    <Opening
      class="tool"
      summary={
        <>
          <code>{tool}</code> {stale && <span class="tag">stale</span>}
          <span class="muted">{title ?? ''}</span>
        </>
      }
    >
      {() => (
        <>
          <p class="tool-text">{description ?? 'No description.'}</p>
          <p class="small muted">
            For a model: <code>{name}</code>
          </p>
          <JsonTree name="input" value={inputSchema} />
          {outputSchema !== undefined && <JsonTree name="output" value={outputSchema} isOpen={false} />}
          {annotations !== undefined && <JsonTree name="annotations" value={annotations} />}
        </>
      )}
    </Opening>
  );
}

/**
 * The rendering of results, which loads when it is first needed. For a troupe, diagnostics become its events, and spilled
 * files are removed when it closes.
 */
import type { CallToolResult } from '../mcp/server-offers.js';
import type { LifecycleEventBody } from '../lifecycle/event.js';
import type { RenderedResult, RenderOptions } from '../results/render-result.js';
import { SpillFolder } from '../results/spill-folder.js';

/** Options of `Troupe.renderResult`. Oddities are published as `diagnostic` events instead. */
export type ResultOptions = Omit<RenderOptions, 'onDiagnostic'>;

/**
 * Converts the result of a call to what a model should read. Text blocks are joined by line breaks. Images,
 * audio and embedded data become `blocks`. Everything else, including resource links, becomes JSON in the
 * text, and so does `structuredContent` if there is no text.
 *
 * @param result The untouched result of `callTool`.
 * @param options Where the result comes from, and how to render it.
 *
 * @throws `TypeError` for options that make no sense.
 *
 * @example
 * ```ts
 * import { renderResult } from 'mcp-troupe';
 *
 * const result = await connection.callTool('read_file', { path: 'README.md' });
 * const { text, blocks } = await renderResult(result, { server: 'fs', tool: 'read_file' });
 * ```
 */
export async function renderResult(result: CallToolResult, options: RenderOptions): Promise<RenderedResult> {
  const { renderResult: render } = await import('../results/render-result.js');
  return render(result, options);
}

export class Results {
  readonly #folder = new SpillFolder();

  constructor(private readonly publish: (event: LifecycleEventBody) => void) {}

  render(result: CallToolResult, options: ResultOptions): Promise<RenderedResult> {
    const { spill = true } = options;
    return renderResult(result, {
      ...options,
      spill: spill === true ? this.#folder : spill,
      onDiagnostic: ({ kind, server, tool, message, signals }) =>
        this.publish({ type: 'diagnostic', server, kind, message, tool, signals }),
    });
  }

  close(): Promise<void> {
    return this.#folder.close();
  }
}

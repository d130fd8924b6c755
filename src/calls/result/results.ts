/** Rendering, which loads when first needed; and for one troupe: diagnostics become its events, and what is spilled goes when it closes. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { LifecycleEventBody } from '../../lifecycle/event.js';
import type { RenderedResult, RenderOptions } from './render.js';
import { SpillFolder } from './spill.js';

export type ResultOptions = Omit<RenderOptions, 'onDiagnostic'>;

/**
 * Turns the result of a call into what a model should see. Text blocks are joined by line breaks; images, audio and
 * embedded data become `blocks`; everything else, resource links included, becomes JSON within the text, and so does
 * `structuredContent` where no text says anything. Throws a `TypeError` for options that make no sense.
 */
export async function renderResult(result: CallToolResult, options: RenderOptions): Promise<RenderedResult> {
  const { renderResult: render } = await import('./render.js');
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
        this.publish({ type: 'diagnostic', connection: server, kind, message, tool, signals }),
    });
  }

  close(): Promise<void> {
    return this.#folder.close();
  }
}

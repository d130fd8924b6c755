/** Rendering for one troupe: diagnostics become its events, and what is spilled goes when it closes. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { LifecycleEventBody } from '../../lifecycle/event.js';
import { renderResult, type RenderedResult, type RenderOptions } from './render.js';
import { SpillFolder } from './spill.js';

export type ResultOptions = Omit<RenderOptions, 'onDiagnostic'>;

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

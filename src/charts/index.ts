/**
 * `src/charts` describes the charts of the machines as plain JSON, and writes them as Mermaid, SCXML and tables. It
 * runs in a browser as well as in Node.
 */
export {
  activeStateIds,
  chartModel,
  transitionId,
  type ChartEdge,
  type ChartInvoke,
  type ChartModel,
  type ChartState,
  type ChartTransition,
} from './chart-model.js';
export type { ChartEventKind } from './chart-labels.js';
export {
  allStates,
  chartArrows,
  shortId,
  stateIdsOf,
  transitionsOf,
  type ChartArrow,
  type ChartBranch,
} from './chart-lookup.js';
export { chartHash } from './chart-hash.js';
export { toMermaid } from './mermaid.js';
export { toScxml } from './scxml.js';
export { toTransitionTable } from './transition-table.js';

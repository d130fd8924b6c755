/** The paths over the connection chart. Their search takes seconds, so it is made once for all suites. */
import { connectionModel } from '../../../src/testing/connection-model.js';
import { edgePaths } from '../../../src/testing/edge-paths.js';

const model = connectionModel();

export const CONNECTION_PATHS = edgePaths(model.machine, model);

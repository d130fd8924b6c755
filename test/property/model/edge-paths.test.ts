/**
 * The shortest paths over every transition of a chart, walked with real actors whose effects and time the test controls.
 * The assertions on the way are invariants that no chart states.
 */
import { describe, expect, it } from 'vitest';
import { connectionMachine } from '../../../machines/connection/connection.machine.js';
import { managerMachine } from '../../../machines/manager/manager.machine.js';
import { reviewMachine } from '../../../machines/review/review.machine.js';
import { edgePaths, walkEdgePath } from '../../../src/testing/edge-paths.js';
import { ChartEdges } from '../../support/chart-edges.js';
import { ConnectionDriver } from '../../support/connection-driver.js';
import { CONNECTION_PATHS } from './connection-paths.js';
import { HeldConnection } from './held-connection.js';
import { HeldReview, REVIEW_MODEL } from './held-review.js';
import { MANAGER_MODEL, PUPPET_MANAGER, PuppetManager } from './puppet-manager.js';

describe('the connection', () => {
  const edges = new ChartEdges(connectionMachine);
  const { paths, missing } = CONNECTION_PATHS;

  it.each(paths.map((path) => [path.title, path] as const))('goes from %s.', async (_, path) => {
    const driver = new ConnectionDriver({ ...path.input, inspect: edges.count });
    await expect(walkEdgePath(path, new HeldConnection(driver))).resolves.toBeUndefined();
  });

  it('takes every transition of its chart.', () => {
    expect(missing).toEqual([]);
    expect(edges.missing).toEqual([]);
    expect(edges.total).toBeGreaterThan(100);
  });
});

describe('the manager', () => {
  const edges = new ChartEdges(managerMachine);
  const { paths, missing } = edgePaths(PUPPET_MANAGER, MANAGER_MODEL);

  it.each(paths.map((path) => [path.title, path] as const))('goes from %s.', async (_, path) => {
    await expect(walkEdgePath(path, new PuppetManager(path.input, edges))).resolves.toBeUndefined();
  });

  it('takes every transition of its chart.', () => {
    expect(missing).toEqual([]);
    expect(edges.missing).toEqual([]);
    expect(edges.total).toBeGreaterThan(20);
  });
});

describe('the review', () => {
  const edges = new ChartEdges(reviewMachine);
  const { paths, missing } = edgePaths(reviewMachine, REVIEW_MODEL);

  it.each(paths.map((path) => [path.title, path] as const))('goes from %s.', async (_, path) => {
    await expect(walkEdgePath(path, new HeldReview(path.input, edges))).resolves.toBeUndefined();
  });

  it('takes every transition of its chart.', () => {
    expect(missing).toEqual([]);
    expect(edges.missing).toEqual([]);
    expect(edges.total).toBeGreaterThan(20);
  });
});

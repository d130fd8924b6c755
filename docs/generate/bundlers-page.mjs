/**
 * docs/reference/bundlers.md: what the package was last built with and loaded by, from the results of `npm run bundlers`.
 */
import { page, table } from './markdown.mjs';

/** @param {{ bundlers: object[], runners: object[], containers: object[], node: string, date: string }} results */
export function bundlersPage({ bundlers, runners, containers, node, date }) {
  return page('Bundlers and test runners', 'tools/bundlers', [
    `What [the guide](../guide/bundlers.md) says is tested by \`npm run bundlers\`: it installs the packed package and one bundler
into an empty project, builds a host, runs the result in a folder without packages, and checks that the host reads
configuration in JSON, TOML and YAML, calls servers over stdio and HTTP, and ends without leaving a process. This is the run of
${date} with Node ${node}. Those marked with * are part of \`npm test\`.`,
    '## Bundlers',
    table(
      ['Bundler', 'Version', 'Build', 'Size'],
      bundlers.map(({ name, version, buildMs, bytes, isQuick }) => [
        mark(name, isQuick),
        version,
        `${(buildMs / 1_000).toFixed(1)} s`,
        `${(bytes / 1_000_000).toFixed(1)} MB`,
      ]),
    ),
    '## Without a bundle',
    `Each loads every entry point. The first and those with \`import\` also check that \`require\` and \`import\` give the same classes in one
process.`,
    table(
      ['Program', 'Version'],
      runners.map(({ name, version, isQuick }) => [mark(name, isQuick), version]),
    ),
    '## In a container',
    `The Dockerfile of [the guide](../guide/docker.md#a-host-in-a-container) was followed in a folder, without Docker, with ${containers
      .map(({ version }) => `Node ${version}`)
      .join(', ')}.`,
  ]);
}

const mark = (name, isQuick) => (isQuick ? `${name} *` : name);

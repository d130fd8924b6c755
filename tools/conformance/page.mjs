/** Builds the reference page with the passing scenarios. Pure: a complete passed run writes the page. */
import { format } from 'prettier';

const REASONS = {
  HANDSHAKE_FAILED: 'gives up, as it should',
  AUTH_REQUIRED: 'refuses to sign in, as it should',
};

const HEAD = `<!-- Written by npm run test:conformance. Do not edit. -->

# Conformance

The protocol's own tests, from \`@modelcontextprotocol/conformance\`, run offline against this package:

\`\`\`sh
npm run test:conformance
\`\`\`

A troupe with one HTTP entry runs the client scenarios; the server scenarios go through
\`troupe serve --bare --http --no-token\`, in front of a server on stdio. A scenario passes only if no check
fails or warns, at least the listed number of checks pass, and the client ends as it should: some scenarios would pass for a
client that does nothing.
`;

/** Formatted as the project's pages are. */
export async function conformancePage(parts, options) {
  return format([HEAD, overview(parts), ...parts.map(section)].join('\n'), {
    ...options,
    parser: 'markdown',
  });
}

function overview(parts) {
  const rows = parts.map(({ title, suite, scenarios }) => {
    const all = Object.values(scenarios);
    const required = share(all.filter(({ isOptional }) => !isOptional));
    const further = share(all.filter(({ isOptional }) => isOptional));
    const checks = all.reduce((sum, { checks = 0 }) => sum + checks, 0);
    return `| ${title} | ${suite.version} | ${required} | ${further} | ${checks} |`;
  });
  return [
    '| part | suite | scenarios that pass | beyond what is required | checks, at least |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function share(scenarios) {
  const passing = scenarios.filter(({ lacks }) => lacks === undefined);
  return scenarios.length === 0 ? '' : `${passing.length} of ${scenarios.length}`;
}

function section({ title, suite, scenarios }) {
  const rows = Object.entries(scenarios).map(
    ([name, scenario]) => `| \`${name}\` | ${scenario.checks ?? '-'} | ${noteOn(scenario)} |`,
  );
  return [
    `## ${title} (${suite.version})`,
    '',
    '| scenario | checks | |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function noteOn({ isOptional, ends, lacks }) {
  return [
    ...(isOptional ? ['not required'] : []),
    ...(ends === undefined ? [] : [REASONS[ends]]),
    ...(lacks === undefined ? [] : [`fails: Troupe does not offer ${lacks}`]),
  ].join('; ');
}

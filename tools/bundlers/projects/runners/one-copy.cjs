/** One process that reads every entry point with `import` and with `require` gets the same module. */
const assert = require('node:assert');
const { exports: entries, name } = require('mcp-troupe/package.json');

/** They need packages that are not installed here. */
const WITH_PEERS = ['./ai-sdk', './langchain', './opentelemetry', './fleet-redis', './fleet-nats'];

async function main() {
  for (const subpath of Object.keys(entries)) {
    if (subpath.endsWith('.json') || WITH_PEERS.includes(subpath)) continue;
    const specifier = name + subpath.slice(1);
    const [required, imported] = [require(specifier), await import(specifier)];
    assert.deepEqual(Object.keys(required).toSorted(), Object.keys(imported).toSorted());
    for (const key of Object.keys(imported))
      assert.equal(required[key], imported[key], `${specifier}: ${key}`);
  }
  console.log('one copy');
}

main();

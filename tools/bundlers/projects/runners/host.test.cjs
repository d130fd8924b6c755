/** For Jest and Mocha as they are without any settings. */
const assert = require('node:assert');
const { createTroupe, ConfigError, TroupeError } = require('mcp-troupe');
const { createScriptedServer, createControlledClock } = require('mcp-troupe/testing');
const { toChatTools } = require('mcp-troupe/openai');

describe('a troupe', () => {
  let troupe;
  afterEach(() => troupe?.close());

  it('calls servers over stdio and HTTP that files in JSON, TOML and YAML name', async () => {
    troupe = createTroupe({
      config: ['stdio.json', 'stdio.toml', 'http.yaml'].map((path) => ({ path, trust: 'all' })),
    });
    const { ready } = await troupe.start();
    assert.deepEqual([...ready].toSorted(), ['json', 'toml', 'yaml']);
    for (const name of ready) {
      const { content } = await troupe.callTool(`mcp__${name}__whoami`, {});
      assert.match(content[0].text, /^mcp-troupe \d/);
    }
    assert.equal(toChatTools(troupe).length, 3);
  });

  it('throws its own errors', async () => {
    let thrown;
    try {
      createTroupe({ server: {} });
    } catch (error) {
      thrown = error;
    }
    assert.ok(thrown instanceof ConfigError && thrown instanceof TroupeError);
    assert.equal(typeof createControlledClock, 'function');
    assert.equal(typeof createScriptedServer, 'function');
  });
});

/** One bundle that reads the package with `import` and with `require`. */
const { createTroupe, TroupeError } = require('mcp-troupe');
const { createScriptedServer } = require('mcp-troupe/testing');

import('./run.mjs').then(async ({ run }) => {
  const imported = await import('mcp-troupe');
  const isOne = imported.TroupeError === TroupeError && imported.createTroupe === createTroupe;
  console.log(JSON.stringify({ ...(await run('.')), isOne: isOne && createScriptedServer !== undefined }));
});

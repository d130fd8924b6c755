/** The scripted server of `mcp-troupe/testing`. */
export { text, tool } from '../../src/testing/ordinary-answers.js';
export { refuse, RpcFault, ScriptedServer, SILENCE, silent } from '../../src/testing/scripted-server.js';
export type { Exchange, Handler, Received, ServerScript as Script } from '../../src/testing/server-script.js';

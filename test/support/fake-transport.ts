/** The fake transport of `mcp-troupe/testing`. */
export { FakeTransport, type FakeTransportOptions, type Wait } from '../../src/testing/fake-transport.js';

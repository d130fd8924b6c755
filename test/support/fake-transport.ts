/** The transport of the testing kit, where the tests look for it. */
export { FakeTransport, type FakeTransportOptions, type Wait } from '../../src/testing/fake-transport.js';

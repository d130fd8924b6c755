export default process.env.EXTERNAL ? { serverExternalPackages: ['mcp-troupe'] } : {};

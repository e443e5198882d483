import { Agent, createServer } from 'node:http';
import httpProxy from 'http-proxy';

// Without an agent that keeps connections it would open one for each request.
const proxy = httpProxy.createProxyServer({
  target: process.argv[2],
  agent: new Agent({ keepAlive: true }),
});
proxy.on('error', (_error, _request, response) => response.destroy());
const server = createServer((request, response) => proxy.web(request, response));
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${server.address().port}\n`);
});
process.on('SIGTERM', () => process.exit(0));

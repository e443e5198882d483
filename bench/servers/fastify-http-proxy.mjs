import proxy from '@fastify/http-proxy';
import fastify from 'fastify';

// No log: the peer is measured at its best.
const server = fastify({ logger: false, bodyLimit: 4 * 1024 * 1024 });
server.register(proxy, { upstream: process.argv[2] });
const url = await server.listen({ port: 0, host: '127.0.0.1' });
process.stdout.write(`listening ${new URL(url).port}\n`);
process.on('SIGTERM', () => process.exit(0));

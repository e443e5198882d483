import { once } from 'node:events';
import { createServer } from 'node:net';
import plugin from './index.js';

const CATALOG = JSON.stringify([
  { name: 'counters', type: 'counter' },
  { name: 'log', type: 'stream' },
]);

async function listen(answer) {
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('data', (bytes) => answer(socket, bytes));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { address: `127.0.0.1:${server.address().port}`, sockets, stop };
}

async function start() {
  const bulk = (text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
  const good = await listen((socket, bytes) =>
    socket.write(bytes.includes('modgate:catalog') ? bulk(CATALOG) : '+OK\r\n'),
  );
  const odd = await listen((socket) => socket.end('<html>'));
  const silent = await listen(() => {});
  return {
    source: [good.address],
    options: { auth: 'env:TOKEN' },
    references: { secrets: { 'env:TOKEN': 'a-token-for-tests' } },
    unusable: { 'another protocol': [odd.address], 'no address': ['redis'] },
    silent: [{ source: [silent.address], isWaiting: () => silent.sockets.size > 0 }],
    leftOut: ['log'],
    stop: async () => {
      for (const server of [good, odd, silent]) server.stop();
    },
  };
}

const [adapter] = plugin.adapters;
const [importer] = plugin.importers;

export const subjects = [{ importer, adapter, start }];

import { openSync, rmSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ADMIN_LIST_PATH, DELIVERY_PATH, SLOW_MS, SLOW_PATH } from './soak-module.js';

/** The process of a `ProviderProcess`: `provider-entry.js JOURNAL PORT|SOCKET`. */
const [journal = '', listenOn = ''] = process.argv.slice(2);
const file = openSync(journal, 'a');
let isFailing = false;

process.on('message', (message: { isFailing: boolean }) => {
  isFailing = message.isFailing;
});
process.on('disconnect', () => process.exit());

const server = createServer((request, response) => {
  request.resume();
  request.on('error', () => {});
  request.on('end', () => respond(request, response));
});
const isSocket = listenOn.startsWith('/');
// A killed provider does not remove its socket.
if (isSocket) rmSync(listenOn, { force: true });
server.listen(isSocket ? { path: listenOn } : { port: Number(listenOn), host: '127.0.0.1' }, () => {
  process.send?.({ listening: isSocket ? 0 : (server.address() as AddressInfo).port });
});

function respond(request: IncomingMessage, response: ServerResponse): void {
  const { headers, url = '' } = request;
  const requestId = headers['x-request-id'];
  const echo = (status: number) => give(response, status, { echo: requestId });
  if (url === DELIVERY_PATH) {
    give(response, 200, {});
    return;
  }
  const arrival = { call_id: headers['modgate-call-id'], request_id: requestId };
  writeSync(file, `${JSON.stringify(arrival)}\n`);
  if (url.startsWith(ADMIN_LIST_PATH)) {
    give(response, 200, { records: [], next_cursor: null });
  } else if (isFailing) {
    echo(500);
  } else if (url.startsWith(SLOW_PATH)) {
    process.send?.({ arrived: requestId });
    setTimeout(() => echo(200), SLOW_MS);
  } else {
    echo(200);
  }
}

function give(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

import { type ChildProcess, spawn } from 'node:child_process';

/** Answers as Microsoft Graph does, to the operations of the part of its document that the tests have. */
const SCRIPT = `
  require('node:http').createServer((request, response) => {
    const path = decodeURIComponent(request.url);
    const send = (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    if (path === '/v1.0/users/ada/messages') send('{"value":[{"subject":"Hello"}]}');
    else if (path.endsWith("/microsoft.graph.range(address='A1:B2')")) send('{"address":"A1:B2"}');
    else if (path === '/v1.0/users/ada/photo/$value') {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end('photo');
    } else response.writeHead(404).end();
  }).listen(Number(process.argv[1]), '127.0.0.1');
`;

export function startGraphServer(port: number): ChildProcess {
  return spawn(process.execPath, ['-e', SCRIPT, String(port)], { stdio: 'ignore' });
}

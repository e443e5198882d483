// What Node can do: node:http in front, undici's dispatch behind, the headers and the bytes handed on.
import { createServer } from 'node:http';
import { Pool } from 'undici';

const pool = new Pool(process.argv[2], { pipelining: 1, connections: null });

class PassThrough {
  #response;

  constructor(response) {
    this.#response = response;
  }

  onRequestStart() {}

  onResponseStart(controller, status, headers) {
    if (status < 200) return;
    this.#response.writeHead(status, headers);
    this.#response.on('drain', () => controller.resume());
  }

  onResponseData(controller, chunk) {
    if (!this.#response.write(chunk)) controller.pause();
  }

  onResponseEnd() {
    this.#response.end();
  }

  onResponseError(_controller, error) {
    this.#response.destroy(error);
  }
}

const server = createServer((request, response) => {
  const { host, connection, ...headers } = request.headers;
  const body = request.method === 'GET' ? null : request;
  pool.dispatch(
    { method: request.method, path: request.url, headers, body },
    new PassThrough(response),
  );
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`listening ${server.address().port}\n`);
});
process.on('SIGTERM', () => process.exit(0));

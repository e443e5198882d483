// A service behind kind `nats`: node example-provider.mjs [subject]. Start it several times: the queue group
// (here named as the subject) gives each request to one of them.
import { connect, headers } from '@nats-io/transport-node';

const subject = process.argv[2] ?? 'modgate.greeter';
const connection = await connect({ servers: process.env.NATS_URL ?? 'nats://127.0.0.1:4222' });

const manifest = {
  protocol: 'modgate.manifest.v1',
  module_id: 'greeter',
  capabilities: ['greeter.read'],
  http_routes: [{ method: 'GET', path: '/hello/{name}', capability: 'greeter.read' }],
};

/** The operations by the last token of the subject; each answers [status, JSON]. */
const operations = {
  manifest: () => [200, manifest],
  check: () => [204],
  configure: () => [204],
  http_route: (message) => {
    const name = decodeURIComponent(message.headers.get('modgate-path').split('/').at(-1));
    const query = new URLSearchParams(message.headers.get('modgate-query'));
    return [200, { hello: name, polite: query.has('polite') }];
  },
};

for await (const message of connection.subscribe(`${subject}.*`, { queue: subject })) {
  // One after the other only because nothing here waits: answer without `await` in the loop.
  const answer = operations[message.subject.slice(subject.length + 1)] ?? (() => [404]);
  try {
    respond(message, ...answer(message));
  } catch (error) {
    console.error(error);
    respond(message, 500, { detail: 'the provider failed' });
  }
}

function respond(message, status, body) {
  const head = headers();
  head.set('modgate-status', String(status));
  if (body !== undefined) head.set('content-type', 'application/json');
  message.respond(body === undefined ? '' : JSON.stringify(body), { headers: head });
}

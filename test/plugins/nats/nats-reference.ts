import {
  connect,
  headers as createHeaders,
  type Msg,
  type NatsConnection,
} from '@nats-io/transport-node';
import {
  REFERENCE_SECRET,
  type ReferenceModule,
  type ReferenceRequest,
  type RunningReference,
  toReferenceRequest,
} from '../../../core/testkit/index.js';
import { OwnServer } from './nats-server.js';

const SUBJECT = 'modgate-test.reference';

/** Serves the reference module over NATS, on its own server, which a test can stop. */
export async function startNatsReference(reference: ReferenceModule): Promise<RunningReference> {
  // The largest response of the clauses is above the default (1 MiB).
  // By default it closes connections that do not log in within 2 s.
  const authorization = `{ token: "${REFERENCE_SECRET.value}", timeout: 60 }`;
  const config = `max_payload: 4194304\nauthorization ${authorization}`;
  const server = new OwnServer(config, {});
  let connection: NatsConnection | null = null;
  const up = async () => {
    await server.start();
    connection = await connect({
      servers: server.url,
      token: REFERENCE_SECRET.value,
      reconnect: false,
    });
    connection.subscribe(`${SUBJECT}.*`, {
      queue: 'reference',
      callback: (_error, message) => void answer(reference, message),
    });
    await connection.flush();
  };
  const down = async () => {
    await connection?.close();
    await server.stop();
  };
  await up();
  return {
    config: {
      servers: [server.url],
      subject: SUBJECT,
      auth: { token: REFERENCE_SECRET.reference },
    },
    secrets: { [REFERENCE_SECRET.reference]: REFERENCE_SECRET.value },
    faults: ['malformed'],
    down,
    up,
    stop: async () => {
      await down();
      server.remove();
    },
  };
}

async function answer(reference: ReferenceModule, message: Msg): Promise<void> {
  const kind = message.subject.slice(SUBJECT.length + 1);
  if (kind === 'manifest')
    return send(message, 200, {}, Buffer.from(JSON.stringify(reference.manifest)));
  if (kind === 'check') return send(message, 204, {}, null);
  const { status, headers, body, fault } = await reference.answer(readRequest(kind, message));
  if (fault !== undefined) return void message.respond('no answer');
  send(message, status, headers, body);
}

function readRequest(kind: string, message: Msg): ReferenceRequest {
  const headers = Object.fromEntries(
    [...(message.headers ?? [])].map(([name, values]) => [name.toLowerCase(), values.join(', ')]),
  );
  const json = () => message.json<never>();
  switch (kind) {
    case 'admin_list':
      return toReferenceRequest(
        { ...(json() as object), kind, path: '/admin/items' } as never,
        headers,
      );
    case 'admin_action': {
      const operation = { kind, path: '/admin/act', input: null, inputJson: message.data };
      return toReferenceRequest(operation as never, headers);
    }
    case 'configure':
      return toReferenceRequest({ ...(json() as object), kind, path: '/config' } as never, headers);
    default: {
      const query = headers['modgate-query'];
      return {
        method: headers['modgate-method'] ?? '',
        target: `${headers['modgate-path']}${query === undefined ? '' : `?${query}`}`,
        headers,
        body: message.data.length === 0 ? null : message.data,
      };
    }
  }
}

function send(
  message: Msg,
  status: number,
  headers: Readonly<Record<string, string | readonly string[]>>,
  body: Uint8Array | null,
): void {
  const head = createHeaders();
  head.set('modgate-status', String(status));
  for (const [name, values] of Object.entries(headers)) {
    for (const value of [values].flat()) head.append(name, value);
  }
  message.respond(body ?? '', { headers: head });
}

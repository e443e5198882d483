import {
  type ConnectionOptions,
  connect,
  headers as createHeaders,
  type Msg,
  type NatsConnection,
} from '@nats-io/transport-node';

export interface NatsAnswer {
  readonly status?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface NatsService {
  readonly connection: NatsConnection;
  readonly received: Msg[];
  stop(): Promise<void>;
}

/** A provider for tests. `handle` returns `null` to send no response. */
export async function startService(
  subject: string,
  handle: (message: Msg) => NatsAnswer | null,
  options: ConnectionOptions,
  queue = subject,
): Promise<NatsService> {
  const connection = await connect(options);
  const received: Msg[] = [];
  connection.subscribe(`${subject}.*`, {
    queue,
    callback: (_error, message) => {
      received.push(message);
      const answer = handle(message);
      if (answer !== null) respond(message, answer);
    },
  });
  await connection.flush();
  return { connection, received, stop: () => connection.close() };
}

export function respond(message: Msg, { status, headers = {}, body = '' }: NatsAnswer): void {
  const head = createHeaders();
  if (status !== undefined) head.set('modgate-status', status);
  for (const [name, value] of Object.entries(headers)) head.set(name, value);
  message.respond(body, { headers: head });
}

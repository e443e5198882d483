import { spawnSync } from 'node:child_process';
import type { AdapterSubject } from '../../../core/testkit/index.js';
import { amqpAdapter } from '../../../plugins/amqp/amqp-adapter.js';
import { subjects as http } from '../../../plugins/http/testkit.js';
import { subjects as local } from '../../../plugins/local/testkit.js';
import { mcpAdapter } from '../../../plugins/mcp-client/mcp-adapter.js';
import { natsAdapter } from '../../../plugins/nats/nats-adapter.js';
import { subjects as process } from '../../../plugins/process/testkit.js';
import { startAmqpReference } from '../../plugins/amqp/amqp-reference.js';
import { accepts, RABBITMQ_PORT } from '../../plugins/amqp/amqp-server.js';
import { referenceAdapter, startGrpcReference } from '../../plugins/grpc/grpc-reference.js';
import { startMcpReference } from '../../plugins/mcp-client/mcp-reference.js';
import { startNatsReference } from '../../plugins/nats/nats-reference.js';

const nats: AdapterSubject = { adapter: natsAdapter, start: startNatsReference, cycles: 200 };

const amqp = (['direct', 'queue'] as const).map(
  (reply): AdapterSubject => ({
    adapter: amqpAdapter,
    start: (reference) => startAmqpReference(reference, reply),
    cycles: 200,
  }),
);

const grpc: AdapterSubject = {
  adapter: referenceAdapter,
  start: startGrpcReference,
  cycles: 100,
  except: {
    'request.query': 'parameters become fields, which have no order',
    'request.target': 'path and query become fields',
    'request.headers': 'accept and content-type are no metadata',
    'request.header-injection': 'such a header is 400, and nothing is sent',
    'answer.empty': 'gRPC has no 204',
    'answer.status': 'gRPC has other statuses',
    'answer.error-body': 'an error is a status of gRPC',
    'answer.redirect': 'gRPC has no redirects',
    'answer.not-modified': 'gRPC has no 304',
    'answer.bare': 'a message of bytes has a type',
    'streams.head': 'gRPC has no HEAD',
    'streams.request-length': 'a message has a length of its own',
  },
};

const mcp: AdapterSubject = {
  adapter: mcpAdapter,
  start: startMcpReference,
  cycles: 50,
  except: {
    'readiness.down': 'a check sends nothing: over HTTP a session learns it from its next request',
    'request.headers': 'accept and content-type are those of the protocol',
    'answer.not-modified': 'tools have no conditions',
    'streams.request-length': 'the body is an argument',
  },
};

/** In CI a missing server fails the clauses. Elsewhere they are left out and a test is skipped. */
export const HAS_NATS_SERVER =
  globalThis.process.env['CI'] === 'true' ||
  spawnSync('nats-server', ['--version']).error === undefined;

/** Likewise. */
export const HAS_RABBITMQ =
  globalThis.process.env['CI'] === 'true' || (await accepts(RABBITMQ_PORT));

export const SHIPPED: readonly AdapterSubject[] = [
  ...http,
  ...local,
  ...process,
  grpc,
  mcp,
  ...(HAS_NATS_SERVER ? [nats] : []),
  ...(HAS_RABBITMQ ? amqp : []),
];

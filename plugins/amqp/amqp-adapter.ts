import { hostname } from 'node:os';
import {
  defineAdapter,
  type HttpRouteOperation,
  type Invocation,
  type OpenContext,
  type Outcome,
  type Provider,
  ProviderFailure,
} from '../../core/contract/index.js';
import {
  createAddressFinder,
  createTlsOptions,
  createUnknownEndpoint,
  findMoreThanRoutes,
  withDeadline,
} from '../shared/transport.js';
import { AmqpLink } from './amqp-link.js';
import { BrokerAddresses } from './brokers.js';
import {
  type AmqpConfig,
  amqpConfig,
  DEFAULT_MAX_MESSAGE_BYTES,
  listUrls,
  readVirtualHost,
} from './config.js';
import {
  type AmqpRequest,
  createLengthFailure,
  createProperties,
  DefaultTypes,
  EMPTY,
  readBody,
} from './requests.js';

const CHECK_TIMEOUT_MS = 1_000;

/** The user that each broker has, for connections from its own machine. */
const DEFAULT_USER = 'guest';

/** Kind `amqp`: request and reply over RabbitMQ. */
export const amqpAdapter = defineAdapter({
  kind: 'amqp',
  config: amqpConfig,
  supports: { streams: true },
  describeConfig: () => ({ hostUses: [] }),
  checkManifest: (manifest) => findMoreThanRoutes(manifest, 'amqp'),
  open: (config: AmqpConfig, context) => {
    const link = createLink(config, context);
    context.scope.defer(() => link.close());
    link.start();
    const { queue, exchange = '', routing_key = '' } = config;
    const id = queue === undefined ? `amqp:${exchange}/${routing_key}` : `amqp:${queue}`;
    return createAmqpProvider(link, id, config.max_message_bytes ?? DEFAULT_MAX_MESSAGE_BYTES);
  },
});

function createLink(config: AmqpConfig, context: OpenContext): AmqpLink {
  const { module, file, secret, log } = context;
  const lateAnswers = context.counter('late_answers_total', 'Answers that no call waited for.');
  const urls = listUrls(config);
  const { queue, exchange = '', routing_key = '', tls, reply = 'direct' } = config;
  const { username, password } = config.auth?.basic ?? {};
  return new AmqpLink({
    addresses: new BrokerAddresses(
      urls,
      // With the system's root certificates it takes milliseconds.
      urls.some((url) => url.startsWith('amqps:')) ? createTlsOptions(tls ?? {}, file) : null,
      createAddressFinder(config.resolver, context),
    ),
    login: {
      virtualHost: readVirtualHost(urls[0] ?? '') ?? '/',
      username: username ?? DEFAULT_USER,
      password: password === undefined ? DEFAULT_USER : secret(password).reveal(),
      connectionName: `modgate:${module}@${hostname()}`,
    },
    target: { exchange, routingKey: queue ?? routing_key, queue: queue ?? null },
    reply,
    log,
    onLateAnswer: () => lateAnswers.add(),
  });
}

function createAmqpProvider(link: AmqpLink, id: string, maxMessageBytes: number): Provider {
  const types = new DefaultTypes();

  const readRequest = async (
    invocation: Invocation,
    operation: HttpRouteOperation,
  ): Promise<AmqpRequest> => {
    const { bodyStream } = operation;
    const announced = operation.body?.length ?? Number(invocation.headers['content-length'] ?? 0);
    if (announced > maxMessageBytes) throw createLengthFailure(maxMessageBytes);
    if (bodyStream === undefined) {
      return { properties: createProperties(invocation, operation), body: operation.body ?? EMPTY };
    }
    // Nothing of it is read while it cannot be sent.
    await link.ready(invocation.cancellation ?? invocation.signal);
    const body = await readBody(bodyStream, maxMessageBytes, invocation);
    return { properties: createProperties(invocation, operation), body };
  };

  return {
    endpoints: () => [{ id, weight: 1 }],

    facts: () => link.facts(),

    useRoutes: (routes) => types.useRoutes(routes),

    manifest: async () => {
      throw new ProviderFailure('refused', 'a provider of kind amqp has no manifest');
    },

    check: (signal) => withDeadline(signal, CHECK_TIMEOUT_MS, (deadline) => link.check(deadline)),

    invoke: async (invocation): Promise<Outcome> => {
      const { endpoint, operation } = invocation;
      if (endpoint !== undefined && endpoint !== id) throw createUnknownEndpoint();
      if (operation.kind !== 'http_route') {
        const message = `a provider of kind amqp has no ${operation.kind}`;
        throw new ProviderFailure('refused', message, { phase: 'connecting' });
      }
      const request = await readRequest(invocation, operation);
      const { maxResponseBytes, holdBytes } = invocation;
      const limits = {
        isHead: operation.method === 'HEAD',
        maxResponseBytes,
        holdBytes,
        defaultType: types.of(operation),
      };
      return link.request(request, limits, invocation.cancellation ?? invocation.signal);
    },
  };
}

import { defineAdapter, joinBody, ProviderFailure } from 'modgate/contract';
import { createInvalidRequest, findMoreThanRoutes, findRawMode } from 'modgate/transport';
import { config, databaseOf, operation, transport } from './config.js';
import { importer } from './importer.js';
import { encodeCommand, RedisClient } from './redis-client.js';

const KIND = 'acme-redis';
const JSON_TYPE = { 'content-type': 'application/json' };

const toJson = (value, status = 200) => ({
  status,
  headers: JSON_TYPE,
  body: Buffer.from(JSON.stringify(value)),
});

const keyOf = ({ options, pathParams }) =>
  options.key.replace(/\{(\w+)\}/g, (_, name) => pathParams[name]);

const adapter = defineAdapter({
  kind: KIND,
  config,
  operation,
  supports: { streams: true, toolResults: true },
  checkDescriptor: (descriptor) => findRawMode(descriptor, KIND),
  checkManifest: (manifest) => findMoreThanRoutes(manifest, KIND),
  describeConfig: (value) => transport.describe(value),
  tryCredentials: (value, context) => transport.tryCredentials(value, context),
  open: async (value, context) => {
    const database = databaseOf(value);
    const opened = await transport.open(
      value,
      context,
      (place) => new RedisClient(place, database),
    );
    const commands = context.counter('commands_total', 'Commands that were sent.');
    let keys = 0;

    const run = async (invocation, parts, body = null, length = undefined) => {
      commands.add();
      const { endpoint, headers, context: call, maxResponseBytes, holdBytes, signal } = invocation;
      const request = { method: 'POST', target: '/', headers, context: call };
      const command = encodeCommand(parts, body, length);
      const limits = { maxResponseBytes, holdBytes, signal, counter: invocation };
      return opened.send(opened.find(endpoint), { ...request, body: command }, limits);
    };

    /** Adds up values, one after the other. */
    const sum = async (invocation) => {
      const { names } = JSON.parse(joinBody(invocation.operation.body));
      const whole = { ...invocation, holdBytes: Number.POSITIVE_INFINITY };
      let total = 0;
      for (const [index, name] of names.entries()) {
        const { body } = await run(whole, ['GET', `counter:${name}`]);
        total += Number(Buffer.from(joinBody(body)).toString());
        const progress = index + 1;
        invocation.reportProgress?.({ progress, total: names.length, message: `read ${name}` });
      }
      const block = { type: 'text', text: `The sum is ${total}.` };
      return toJson({ content: [block], structuredContent: { total } });
    };

    return {
      ...opened.provider,
      manifest: async () => {
        throw new ProviderFailure('refused', 'Redis has no manifest');
      },
      check: opened.createCheck((client, signal) => client.ping(signal)),
      useRoutes: (routes) => {
        keys = routes.filter(({ options }) => options.key !== undefined).length;
      },
      facts: () => [{ name: 'keys', value: String(keys) }],
      invoke: async (invocation) => {
        const { operation: call, headers } = invocation;
        const { command, key } = call.options;
        if (command === 'SUM') return sum(invocation);
        if (command === 'SET') {
          const body = call.bodyStream ?? call.body ?? Buffer.alloc(0);
          const length = call.bodyStream ? headers['content-length'] : body.length;
          if (length === undefined) throw createInvalidRequest('', 'needs a length');
          await run(invocation, ['SET', keyOf(call)], body, length);
          return { status: 204, headers: {}, body: null };
        }
        const outcome = await run(invocation, [command, keyOf(call)]);
        if (outcome.status === 404) return toJson({}, 404);
        if (key.startsWith('blob:')) return outcome;
        return toJson({ value: Buffer.from(joinBody(outcome.body)).toString() });
      },
    };
  },
});

export default { adapters: [adapter], importers: [importer] };

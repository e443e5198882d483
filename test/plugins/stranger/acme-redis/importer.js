import { defineImporter, joinBody } from 'modgate/contract';
import { object, optional, string } from 'superstruct';
import { databaseOf, transport } from './config.js';
import { encodeCommand, RedisClient } from './redis-client.js';

const MAX_CATALOG_BYTES = 1_048_576;

const route = (method, path, operation, options) => ({
  method,
  path,
  tags: [path.split('/')[1]],
  operation: { ...operation, 'acme-redis': options },
});

/** Routes by the type of an entry of the catalog. */
const ROUTES = {
  counter: ({ name }) => [
    route('GET', `/${name}/{id}`, {}, { command: 'GET', key: 'counter:{id}' }),
    route('POST', `/${name}/{id}`, { body: 'optional' }, { command: 'INCR', key: 'counter:{id}' }),
  ],
  blob: ({ name }) => [
    route('GET', `/${name}/{id}`, { response: 'bytes' }, { command: 'GET', key: 'blob:{id}' }),
    route('PUT', `/${name}/{id}`, { body: 'bytes' }, { command: 'SET', key: 'blob:{id}' }),
  ],
  sum: ({ name, description }) => [
    {
      ...route(
        'POST',
        `/${name}`,
        {
          operation_id: name,
          reads: true,
          input_schema: {
            type: 'object',
            properties: { names: { type: 'array', items: { type: 'string' } } },
            required: ['names'],
          },
        },
        { command: 'SUM' },
      ),
      summary: description,
    },
  ],
};

/** Makes routes of the catalog that a server has under a key. */
export const importer = defineImporter({
  name: 'acme-redis',
  options: object({ auth: optional(string()) }),
  read: async ([address = ''], { auth }, context) => {
    if (!/^[^:/]+:\d+$/.test(address)) context.reject('the source must be host:port');
    const config = {
      endpoints: [`redis://${address}`],
      ...(auth && { auth: { basic: { username: 'default', password: auth } } }),
    };
    const resolved = await context.resolve('acme-redis', config);
    const { module, scope, log, signal } = context;
    const place = { ...resolved, module, scope, log };
    const connect = (each) => new RedisClient(each, databaseOf(resolved.config));
    const opened = await transport.open(resolved.config, place, connect);
    const body = encodeCommand(['GET', 'modgate:catalog']);
    const request = { method: 'POST', target: '/', headers: {}, body };
    const limits = { maxResponseBytes: MAX_CATALOG_BYTES, signal };
    const outcome = await opened.send(opened.find(), request, limits);
    if (outcome.status !== 200) throw new Error('the server has no key modgate:catalog');
    const entries = JSON.parse(Buffer.from(joinBody(outcome.body)).toString());
    return {
      provider: { kind: 'acme-redis', config },
      replaces: ['endpoints'],
      routes: entries.flatMap((entry) => ROUTES[entry.type]?.(entry) ?? []),
      leftOut: entries
        .filter(({ type }) => ROUTES[type] === undefined)
        .map(({ name, type }) => ({ place: name, reason: `type ${type} is not carried` })),
    };
  },
});

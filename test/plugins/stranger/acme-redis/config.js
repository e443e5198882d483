import { described, optionally } from 'modgate/contract';
import { defineTransport, integerBetween } from 'modgate/transport';
import { enums, object, string } from 'superstruct';

export const transport = defineTransport({ scheme: 'redis' });

const DEFAULT_DATABASE = 0;

export const config = transport.checked(
  object({
    ...transport.members,
    database: optionally(integerBetween(0, 15), {
      default: DEFAULT_DATABASE,
      description: 'Number of the database.',
    }),
  }),
);

export const databaseOf = ({ database = DEFAULT_DATABASE }) => database;

export const operation = object({
  command: described(enums(['GET', 'INCR', 'SET', 'SUM']), { description: 'What the call does.' }),
  key: optionally(string(), { description: 'The key, with parameters of the path in braces.' }),
});

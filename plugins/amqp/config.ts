import { array, define, enums, type Infer, object, refine, size } from 'superstruct';
import { described, optionally, PASSWORD, secretReference } from '../../core/contract/index.js';
import { defineTransport, integerBetween } from '../shared/transport.js';

/** The default of brokers since RabbitMQ 4.0. Bytes. */
export const DEFAULT_MAX_MESSAGE_BYTES = 16_777_216;

/** The largest message that RabbitMQ can be configured to accept. Bytes. */
export const LARGEST_MESSAGE_BYTES = 536_870_912;

/** Larger clusters use DNS. */
const MAX_URLS = 16;

/** A short string of AMQP 0-9-1. Bytes. */
const MAX_NAME_BYTES = 255;

const BROKER =
  /^amqps?:\/\/(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::[0-9]{1,5})?(?:\/[A-Za-z0-9._~!$&'()*+,;=:@%-]*)?$/;

const broker = described(
  define<string>(
    'amqp:// or amqps:// with a host and perhaps a port and a virtual host, without credentials',
    (value) =>
      typeof value === 'string' &&
      BROKER.test(value) &&
      URL.canParse(value) &&
      readVirtualHost(value) !== null,
  ),
  { type: 'string', pattern: BROKER.source },
);

/** The virtual host that a URL names, `/` by default; `null` if it cannot be one. */
export function readVirtualHost(url: string): string | null {
  const encoded = /^[a-z]+:\/\/[^/]*\/?(.*)$/.exec(url)?.[1] ?? '';
  if (encoded === '') return '/';
  try {
    const name = decodeURIComponent(encoded);
    return Buffer.byteLength(name) <= MAX_NAME_BYTES && !name.includes('\0') ? name : null;
  } catch {
    return null;
  }
}

const name = described(
  define<string>(
    'name of 1 to 255 bytes',
    (value) =>
      typeof value === 'string' &&
      value !== '' &&
      !/\p{Cc}/u.test(value) &&
      Buffer.byteLength(value) <= MAX_NAME_BYTES,
  ),
  { type: 'string', minLength: 1, maxLength: MAX_NAME_BYTES },
);

const auth = described(
  object({
    basic: described(
      object({
        username: described(name, { description: 'Name of the user.' }),
        password: described(secretReference(PASSWORD), { description: 'Password of the user.' }),
      }),
      { description: 'Name and password (SASL PLAIN).' },
    ),
  }),
  { description: "The host's credentials for the broker. Default: guest, password guest." },
);

const oneOf = (first: string, second: string) => ({
  oneOf: [{ required: [first] }, { required: [second] }],
});

const transport = defineTransport({ scheme: 'amqp' });

const members = object({
  url: optionally(broker, {
    description: 'The broker and its virtual host; amqps:// requires TLS. Without credentials.',
  }),
  urls: optionally(size(array(broker), 1, MAX_URLS), {
    minItems: 1,
    maxItems: MAX_URLS,
    description: 'Brokers of one cluster instead of url, all with one virtual host; tried in turn.',
  }),
  queue: optionally(name, {
    description: 'Queue of the requests, through the default exchange.',
  }),
  exchange: optionally(name, {
    description: 'Exchange of the requests, instead of queue.',
  }),
  routing_key: optionally(name, {
    default: '',
    description: 'Routing key of the requests to exchange.',
  }),
  reply: optionally(enums(['direct', 'queue']), {
    default: 'direct',
    description: 'Where answers go: direct reply-to, or an exclusive queue of the connection.',
  }),
  max_message_bytes: optionally(integerBetween(1, LARGEST_MESSAGE_BYTES), {
    default: DEFAULT_MAX_MESSAGE_BYTES,
    description: 'Longest body of a request. Bytes.',
  }),
  auth: optionally(auth, {}),
  tls: transport.members.tls,
  resolver: described(transport.members.resolver, {
    description: 'How names of brokers are resolved. Default: by the system.',
  }),
});

type Members = Infer<typeof members>;

export const amqpConfig = described(
  refine(
    refine(
      refine(
        refine(
          members,
          'a mapping with exactly one of url and urls',
          ({ url, urls }) => (url === undefined) !== (urls === undefined),
        ),
        'a mapping with exactly one of queue and exchange, and routing_key only with exchange',
        ({ queue, exchange, routing_key }) =>
          (queue === undefined) !== (exchange === undefined) &&
          (exchange !== undefined || routing_key === undefined),
      ),
      'a mapping whose urls differ and have one virtual host',
      (value) => {
        const urls = listUrls(value);
        return new Set(urls).size === urls.length && new Set(urls.map(readVirtualHost)).size <= 1;
      },
    ),
    'a mapping with tls only if all urls are amqps',
    (value) => value.tls === undefined || listUrls(value).every((url) => url.startsWith('amqps:')),
  ),
  {
    allOf: [oneOf('url', 'urls'), oneOf('queue', 'exchange')],
    dependentRequired: { routing_key: ['exchange'] },
  },
);

export type AmqpConfig = Members;

/** The URLs of the brokers, in the order in which they are tried. */
export function listUrls({ url, urls }: Pick<Members, 'url' | 'urls'>): readonly string[] {
  return urls ?? (url === undefined ? [] : [url]);
}

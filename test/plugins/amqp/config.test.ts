import { expect } from 'chai';
import { amqpConfig, readVirtualHost } from '../../../plugins/amqp/config.js';

const URL = 'amqp://127.0.0.1:5672';
const QUEUE = { url: URL, queue: 'orders' };

const isValid = (config: object) => amqpConfig.validate(config, { coerce: true })[0] === undefined;

describe('config of kind amqp', () => {
  const VALID: readonly [title: string, config: object][] = [
    ['a URL and a queue', QUEUE],
    ['an exchange without a routing key', { url: URL, exchange: 'rpc' }],
    ['an exchange and a routing key', { url: URL, exchange: 'rpc', routing_key: 'orders' }],
    ['several brokers', { urls: ['amqp://a/shop', 'amqps://b/shop'], queue: 'orders' }],
    [
      'brokers with one virtual host in two forms',
      { urls: ['amqp://a', 'amqp://b/%2F'], queue: 'o' },
    ],
    ['an address of IPv6', { ...QUEUE, url: 'amqp://[::1]:5672/' }],
    ['credentials', { ...QUEUE, auth: { basic: { username: 'a', password: 'env:P' } } }],
    ['TLS', { ...QUEUE, url: 'amqps://a', tls: { ca: './ca.pem' } }],
    ['DNS servers', { ...QUEUE, resolver: { servers: ['10.0.0.2'], allow_local: true } }],
    ['an exclusive queue for answers', { ...QUEUE, reply: 'queue' }],
  ];
  for (const [title, config] of VALID) {
    it(`accepts ${title}`, () => expect(isValid(config)).to.equal(true));
  }

  const INVALID: readonly [title: string, config: object][] = [
    ['a password in the URL', { ...QUEUE, url: 'amqp://modgate:secret@127.0.0.1' }],
    ['a user in the URL', { ...QUEUE, url: 'amqp://modgate@127.0.0.1' }],
    ['a query in the URL', { ...QUEUE, url: `${URL}/?heartbeat=1` }],
    ['a second slash in the virtual host', { ...QUEUE, url: `${URL}/a/b` }],
    ['a virtual host that is not UTF-8', { ...QUEUE, url: `${URL}/%FF` }],
    ['another scheme', { ...QUEUE, url: 'http://127.0.0.1' }],
    ['no broker', { queue: 'orders' }],
    ['url and urls', { ...QUEUE, urls: [URL] }],
    ['no brokers', { urls: [], queue: 'orders' }],
    ['17 brokers', { urls: Array.from({ length: 17 }, (_, at) => `amqp://b${at}`), queue: 'o' }],
    ['a broker twice', { urls: [URL, URL], queue: 'orders' }],
    ['brokers with two virtual hosts', { urls: ['amqp://a/x', 'amqp://b/y'], queue: 'orders' }],
    ['neither queue nor exchange', { url: URL }],
    ['queue and exchange', { ...QUEUE, exchange: 'rpc' }],
    ['a routing key for a queue', { ...QUEUE, routing_key: 'orders' }],
    ['an empty queue', { ...QUEUE, queue: '' }],
    ['a queue of 256 bytes', { ...QUEUE, queue: 'ä'.repeat(128) }],
    ['a DNS server by name', { ...QUEUE, resolver: { servers: ['dns.internal'] } }],
    ['health', { ...QUEUE, health: {} }],
    ['tls without amqps', { ...QUEUE, tls: {} }],
    ['a password in clear text', { ...QUEUE, auth: { basic: { username: 'a', password: 'p' } } }],
    ['no bytes of a message', { ...QUEUE, max_message_bytes: 0 }],
  ];
  for (const [title, config] of INVALID) {
    it(`rejects ${title}`, () => expect(isValid(config)).to.equal(false));
  }

  for (const [url, name] of [
    ['amqp://h', '/'],
    ['amqp://h/', '/'],
    ['amqp://h/%2F', '/'],
    ['amqp://h/shop', 'shop'],
    ['amqp://h/a%20b', 'a b'],
  ] as const) {
    it(`reads the virtual host ${name} in ${url}`, () => {
      expect(readVirtualHost(url)).to.equal(name);
    });
  }
});

import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { FindAddresses } from '../shared/transport.js';

const DEFAULT_PORTS = { 'amqp:': 5672, 'amqps:': 5671 } as const;

export interface BrokerAddress {
  /** Shown to operators: `broker.internal:5672 (10.0.0.7)`. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** `null` without TLS. */
  readonly tls: ConnectionOptions | null;
}

/** Returns the addresses of all brokers in turn, without an end. */
export class BrokerAddresses {
  readonly #urls: readonly string[];
  readonly #tls: ConnectionOptions | null;
  readonly #findAddresses: FindAddresses;
  readonly #next: BrokerAddress[] = [];
  #turn = 0;

  constructor(
    urls: readonly string[],
    tls: ConnectionOptions | null,
    findAddresses: FindAddresses,
  ) {
    this.#urls = urls;
    this.#tls = tls;
    this.#findAddresses = findAddresses;
  }

  get size(): number {
    return this.#urls.length;
  }

  /** Makes the next call resolve a name again. Called after a useful connection. */
  forget(): void {
    this.#next.length = 0;
  }

  /** @throws Error for a name that cannot be resolved; the next call continues with the next URL. */
  async next(): Promise<BrokerAddress> {
    const known = this.#next.shift();
    if (known !== undefined) return known;
    const url = new URL(this.#urls[this.#turn % this.#urls.length] as string);
    this.#turn += 1;
    this.#next.push(...(await this.#resolve(url)));
    return this.#next.shift() as BrokerAddress;
  }

  async #resolve({ protocol, hostname, port }: URL): Promise<BrokerAddress[]> {
    const host = hostname.replace(/^\[|\]$/g, '');
    const isTls = protocol === 'amqps:';
    const common = {
      port: Number(port) || DEFAULT_PORTS[isTls ? 'amqps:' : 'amqp:'],
      tls: isTls
        ? {
            // The name of the URL, whatever its address is.
            ...(isIP(host) === 0 && { servername: host }),
            ...this.#tls,
          }
        : null,
    };
    const name = `${hostname}:${common.port}`;
    if (isIP(host) !== 0) return [{ ...common, host, name }];
    const found = await this.#findAddresses(host);
    return found.map((address) => ({ ...common, host: address, name: `${name} (${address})` }));
  }
}

import { RawConnection, type ReceivedResponse } from '../../../core/selftest/raw-http.js';
import { ROOT } from './call.js';
import { buildRequest, type RawRequest } from './send-request.js';

/** Sends requests in turn on one connection, and opens another when the host has closed it. */
export class KeptConnection {
  readonly #port: () => number;
  #connection: RawConnection | null = null;

  constructor(port: () => number) {
    this.#port = port;
  }

  /** Adds `host` and `authorization`. */
  async send({ headers = [], ...request }: RawRequest): Promise<ReceivedResponse> {
    const connection = this.#connection ?? (await RawConnection.open(this.#port()));
    this.#connection = connection;
    connection.write(
      buildRequest({
        ...request,
        headers: [['host', '127.0.0.1'], ['authorization', `Bearer ${ROOT}`], ...headers],
      }),
    );
    const response = await connection.readFinal();
    const isLast = response.headers.some(([name, value]) =>
      /^connection: close$/i.test(`${name}: ${value}`),
    );
    if (isLast) this.close();
    return response;
  }

  close(): void {
    this.#connection?.destroy();
    this.#connection = null;
  }
}

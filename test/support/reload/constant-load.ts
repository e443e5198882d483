import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';

export interface LoadFigures {
  requests: number;
  /** The number of each failure, such as `m3: 404`. */
  readonly failed: Map<string, number>;
  /** The duration of each request. Milliseconds. */
  readonly latencies: number[];
}

/** Calls `GET /items` of each module in turn on each connection until `stop`. */
export class ConstantLoad {
  #figures = createFigures();
  #isStopped = false;
  readonly #pool: Pool;
  readonly #work: Promise<unknown>;

  /** @param thinkMs the pause of a connection between two requests, on average */
  constructor(url: string, modules: readonly string[], connections: number, thinkMs = 0) {
    this.#pool = new Pool(url, { connections });
    const call = async (connection: number) => {
      let index = Math.floor((connection * modules.length) / connections);
      while (!this.#isStopped) {
        if (thinkMs > 0) await pause(2 * thinkMs * Math.random());
        await this.#call(modules[index++ % modules.length] ?? '');
      }
    };
    this.#work = Promise.all(Array.from({ length: connections }, (_, index) => call(index)));
  }

  /** The results since the last call. */
  take(): LoadFigures {
    const figures = this.#figures;
    this.#figures = createFigures();
    return figures;
  }

  async stop(): Promise<LoadFigures> {
    this.#isStopped = true;
    await this.#work;
    await this.#pool.close();
    return this.take();
  }

  async #call(module: string): Promise<void> {
    const startedAt = performance.now();
    const outcome = await this.#request(module);
    const figures = this.#figures;
    figures.requests += 1;
    figures.latencies.push(performance.now() - startedAt);
    if (outcome === '200') return;
    const key = `${module}: ${outcome}`;
    figures.failed.set(key, (figures.failed.get(key) ?? 0) + 1);
  }

  async #request(module: string): Promise<string> {
    try {
      const { statusCode, body } = await this.#pool.request({
        method: 'GET',
        path: `/modules/${module}/http/items`,
        headers: { authorization: 'Bearer dev-system:load' },
      });
      await body.dump();
      return String(statusCode);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code ?? 'failed';
    }
  }
}

function createFigures(): LoadFigures {
  return { requests: 0, failed: new Map(), latencies: [] };
}

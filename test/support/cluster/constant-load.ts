import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { HostProcess } from '../start-host.js';

interface LoadResult {
  readonly answered: number;
  /** Each is the status of a response or the code of an error. */
  readonly failures: readonly string[];
}

interface Load {
  readonly answered: number;
  /** Waits for the calls in flight. */
  stop(): Promise<LoadResult>;
}

const CALLERS = 4;
/**
 * The pause between two calls of a client, so that starting workers get CPU time on a busy machine.
 */
const PAUSE_MS = 10;
const RESPONSE_TIMEOUT_MS = 15_000;

/** Starts clients that call continuously, each on its own kept-alive connection. */
export function startLoad(host: Pick<HostProcess, 'port'>, path: string): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
  const failures: string[] = [];
  let answered = 0;
  let isStopped = false;
  const callInTurn = async () => {
    while (!isStopped) {
      const outcome = await call(host.port, path, agent);
      if (outcome === '200') answered += 1;
      else failures.push(outcome);
      await pause(PAUSE_MS);
    }
  };
  const callers = Array.from({ length: CALLERS }, callInTurn);
  return {
    get answered() {
      return answered;
    },
    stop: async () => {
      isStopped = true;
      await Promise.all(callers);
      agent.destroy();
      return { answered, failures };
    },
  };
}

function call(port: number, path: string, agent: Agent): Promise<string> {
  return new Promise((resolve) => {
    const headers = { authorization: 'Bearer dev-system:load' };
    const sent = request({ port, host: '127.0.0.1', path, headers, agent }, (response) => {
      response.resume();
      response.once('end', () => resolve(String(response.statusCode)));
      response.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    });
    // node:cluster loses a connection that it was passing to a worker that exited.
    sent.setTimeout(RESPONSE_TIMEOUT_MS, () => sent.destroy(new Error('no answer')));
    sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    sent.end();
  });
}

import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { pickCall, type SoakCall } from './soak-call.js';

/** The outcome of a call for its client. */
export interface CallerRecord {
  readonly call: SoakCall;
  /** The status; `0` if the client disconnected. */
  readonly status: number;
  /** `200`, `502 timeout`, `aborted`, or what is wrong with the response. */
  readonly outcome: string;
  readonly from: number;
  readonly to: number;
}

interface Answer {
  readonly data?: { readonly echo?: string };
  readonly code?: string;
  readonly errors?: readonly { readonly field: string; readonly reason: string }[];
}

const ABORTED = 0;
const BROKEN = -1;

/** Sends calls of all kinds on several connections until `stop`. */
export class MixedLoad {
  /** The results by request id. */
  readonly records = new Map<string, CallerRecord>();
  readonly #pool: Pool;
  readonly #aborts = new Map<string, AbortController>();
  readonly #work: Promise<unknown>;
  #isStopped = false;
  #number = 0;

  /** @param thinkMs the pause of a connection between two requests, on average */
  constructor(url: string, connections: number, thinkMs: number) {
    this.#pool = new Pool(url, { connections });
    this.#work = Promise.all(Array.from({ length: connections }, () => this.#call(thinkMs)));
  }

  /** Called when a provider has received the request. */
  arrived(requestId: string): void {
    this.#aborts.get(requestId)?.abort();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#work;
    await this.#pool.close();
  }

  async #call(thinkMs: number): Promise<void> {
    while (!this.#isStopped) {
      await pause(2 * thinkMs * Math.random());
      this.#number += 1;
      const requestId = `soak-${this.#number}`;
      const call = pickCall();
      const from = performance.now();
      const { status, outcome } = await this.#send(requestId, call);
      this.records.set(requestId, { call, status, outcome, from, to: performance.now() });
    }
  }

  async #send(requestId: string, call: SoakCall): Promise<{ status: number; outcome: string }> {
    const abort = new AbortController();
    if (call.isAborted) this.#aborts.set(requestId, abort);
    try {
      const { statusCode, headers, body } = await this.#pool.request({
        method: call.method,
        path: `/modules/${call.module}/http${call.path}`,
        headers: writeHeaders(requestId, call),
        body: call.body ?? null,
        signal: abort.signal,
      });
      const answer = (await body.json()) as Answer;
      if (headers['x-request-id'] !== requestId) return broken('the response of another request');
      return { status: statusCode, outcome: describe(requestId, call, statusCode, answer) };
    } catch (error) {
      if (abort.signal.aborted) return { status: ABORTED, outcome: 'aborted' };
      return broken((error as NodeJS.ErrnoException).code ?? String(error));
    } finally {
      this.#aborts.delete(requestId);
    }
  }
}

function broken(outcome: string) {
  return { status: BROKEN, outcome };
}

function writeHeaders(requestId: string, { token, body }: SoakCall): Record<string, string> {
  const headers: Record<string, string> = { 'x-request-id': requestId };
  if (token !== null) headers['authorization'] = `Bearer ${token}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  return headers;
}

function describe(requestId: string, call: SoakCall, status: number, answer: Answer): string {
  if (status === 200) {
    const isOwn = call.isBridge || answer.data?.echo === requestId;
    return isOwn ? '200' : '200 with the data of another request';
  }
  if (answer.code === undefined) return `${status} without a Problem`;
  const failure = answer.errors?.find(({ field }) => field === 'failure')?.reason;
  return failure === undefined ? String(status) : `${status} ${failure}`;
}

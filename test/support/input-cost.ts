import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { cpuMsSince } from './cpu-time.js';
import { measureSlowness, slowness } from './slowness.js';

/** What measurements differ by. CPU milliseconds. */
const NOISE_MS = 0.5;
const ROUNDS = [3, 12, 30];
const DEADLINE_MS = 10_000;

/** CPU milliseconds of this process, in which host, provider and client run. */
export interface InputCost {
  readonly halfMs: number;
  readonly fullMs: number;
  /** The longest turn of the event loop. */
  readonly turnMs: number;
}

export interface CostBounds {
  /** The maximum of the whole input divided by that of its half. */
  readonly ratio: number;
  /** The maximum of the whole input. CPU milliseconds. */
  readonly fullMs?: number;
  /** The maximum of a turn of the event loop. CPU milliseconds. */
  readonly turnMs: number;
}

/**
 * The least of some runs each, since anything else that the process does only adds to them. A
 * measurement beyond the bounds is repeated.
 * @returns the cost, and the reason why it is too high; `null` if it is not
 */
export async function measureCost(
  run: (isFull: boolean) => Promise<unknown>,
  bounds: CostBounds,
): Promise<InputCost & { readonly problem: string | null }> {
  let cost: InputCost = { halfMs: Infinity, fullMs: Infinity, turnMs: Infinity };
  let problem: string | null = null;
  for (const rounds of ROUNDS) {
    for (let round = 0; round < rounds; round += 1) {
      const half = await measureOnce(() => run(false));
      const full = await measureOnce(() => run(true));
      cost = {
        halfMs: Math.min(cost.halfMs, half.cpuMs),
        fullMs: Math.min(cost.fullMs, full.cpuMs),
        turnMs: Math.min(cost.turnMs, full.turnMs),
      };
    }
    problem = findProblem(cost, bounds, slowness());
    if (problem !== null) problem = findProblem(cost, bounds, measureSlowness());
    if (problem === null) break;
  }
  return { ...cost, problem };
}

function findProblem(
  { halfMs, fullMs, turnMs }: InputCost,
  bounds: CostBounds,
  factor: number,
): string | null {
  const growth = `${halfMs.toFixed(1)} ms for a half, ${fullMs.toFixed(1)} ms for all`;
  if (fullMs > bounds.ratio * halfMs + NOISE_MS * factor) return growth;
  if (fullMs > (bounds.fullMs ?? Infinity) * factor) return growth;
  return turnMs > bounds.turnMs * factor ? `${turnMs.toFixed(1)} ms in one turn` : null;
}

async function measureOnce(run: () => Promise<unknown>) {
  const start = process.cpuUsage();
  let isDone = false;
  const ended = run().finally(() => {
    isDone = true;
  });
  let turnMs = 0;
  while (!isDone) {
    const turn = process.cpuUsage();
    await new Promise(setImmediate);
    turnMs = Math.max(turnMs, cpuMsSince(turn));
  }
  await ended;
  return { cpuMs: cpuMsSince(start), turnMs };
}

/** A client that costs little: it reads the status, and the length of the body. */
export class CheapClient {
  readonly #port: number;
  #socket: Socket | null = null;

  constructor(port: number) {
    this.#port = port;
  }

  /** @returns the status */
  async send(bytes: Uint8Array): Promise<string> {
    const socket = await this.#connect();
    return new Promise((resolve, reject) => {
      let received = 0;
      let head = '';
      let expected: number | null = null;
      const end = (error: Error | null) => {
        clearTimeout(timer);
        socket.off('data', onData).off('close', onClose);
        if (/^connection: .*close/im.test(head)) socket.destroy();
        if (error === null) resolve(head.slice(9, 12));
        else reject(error);
      };
      const onClose = () => end(head === '' ? new Error('closed without a response') : null);
      const timer = setTimeout(() => end(new Error(`no end of ${head}`)), DEADLINE_MS);
      const onData = (part: Buffer) => {
        received += part.length;
        if (expected === null) {
          head += part.toString('latin1');
          const at = head.indexOf('\r\n\r\n');
          if (at === -1) return;
          const length = /^content-length: (\d+)/im.exec(head.slice(0, at))?.[1];
          if (length === undefined && !/ (?:101|204|304) /.test(head.slice(0, 13))) {
            expected = Infinity;
          } else expected = at + 4 + Number(length ?? 0);
          // Some streams have no end.
          if (head.startsWith('HTTP/1.1 101') || /^content-type: text\/event/im.test(head)) {
            socket.destroy();
            return;
          }
        }
        if (received >= expected) end(null);
      };
      socket.on('data', onData).on('close', onClose);
      socket.write(bytes);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  async #connect(): Promise<Socket> {
    const open = this.#socket;
    if (open !== null && !open.destroyed && !open.readableEnded) return open;
    const socket = connect(this.#port, '127.0.0.1').setNoDelay(true);
    socket.on('error', () => {});
    this.#socket = socket;
    await once(socket, 'connect');
    return socket;
  }
}

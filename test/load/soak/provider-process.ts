import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ENTRY = fileURLToPath(new URL('./provider-entry.js', import.meta.url));

/** One line of a provider's journal, written before the response, so that a kill loses none. */
export interface Arrival {
  readonly call_id: string;
  readonly request_id: string;
}

/** A provider in its own process that can be killed and restarted at the same address. */
export class ProviderProcess {
  readonly #journal: string;
  readonly #listenOn: string;
  readonly #onArrival: (requestId: string) => void;
  #child: ChildProcess | null = null;
  #port = 0;

  /** @param listenOn the path of a Unix socket; `''` is a free port of loopback */
  constructor(
    journal: string,
    listenOn: string,
    onArrival: (requestId: string) => void = () => {},
  ) {
    this.#journal = journal;
    this.#listenOn = listenOn;
    this.#onArrival = onArrival;
  }

  get port(): number {
    return this.#port;
  }

  async start(): Promise<void> {
    const child = fork(ENTRY, [this.#journal, this.#listenOn || String(this.#port)]);
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`a provider ended with ${code}`)));
      child.on('message', (message: { listening?: number; arrived?: string }) => {
        if (message.arrived !== undefined) this.#onArrival(message.arrived);
        if (message.listening === undefined) return;
        this.#port = message.listening;
        resolve();
      });
    });
  }

  /** Switches between 500 and normal responses. */
  fail(isFailing: boolean): void {
    this.#child?.send({ isFailing });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

export function readArrivals(journal: string): Arrival[] {
  const lines = readFileSync(journal, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Arrival);
}

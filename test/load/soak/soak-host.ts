import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, openSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '../../support/http/wait-until.js';
import { type HostLine, nameSeries } from './find-disagreements.js';

const MAIN = fileURLToPath(new URL('../../../core/main.js', import.meta.url));
const START_MS = 60_000;
const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;

/** A host that logs to a file, so that the log does not use the memory of this process. */
export class SoakHost {
  readonly url: string;
  readonly child: ChildProcess;
  readonly #log: string;

  private constructor(url: string, child: ChildProcess, log: string) {
    this.url = url;
    this.child = child;
    this.#log = log;
  }

  static async start(directory: string, env: Readonly<Record<string, string>>): Promise<SoakHost> {
    const log = `${directory}/host.log`;
    const output = openSync(log, 'w');
    const args = ['serve', '--env', 'development', '--host', '127.0.0.1', '--port', '0'];
    args.push('--modules', `${directory}/modules.d`, '--state', `${directory}/state`);
    // Off, because the machine may be busy with other processes.
    args.push('--shed-delay-ms', '60000');
    const child = spawn(process.execPath, [MAIN, ...args], {
      stdio: ['ignore', output, output],
      env: { ...process.env, ...env },
    });
    let url: string | undefined;
    const isListening = () => {
      if (child.exitCode !== null) throw new Error(`the host exited: ${readFileSync(log, 'utf8')}`);
      url = /"url":"(http[^"]+)"/.exec(readFileSync(log, 'utf8'))?.[1];
      return url !== undefined;
    };
    try {
      await waitUntil('the host listens', isListening, START_MS);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
    return new SoakHost(url ?? '', child, log);
  }

  /** All samples of `GET /metrics` with this name. */
  async readMetric(name: string): Promise<{ labels: Record<string, string>; value: number }[]> {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    return text.split('\n').flatMap((line) => {
      const [, metric, labels = '', value] = SAMPLE.exec(line) ?? [];
      if (metric !== name) return [];
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key, text]);
      return [{ labels: Object.fromEntries(pairs), value: Number(value) }];
    });
  }

  async readRequests(): Promise<Map<string, number>> {
    const samples = await this.readMetric('modgate_requests_total');
    return new Map(
      samples.map(({ labels: { module = '', method = '', route = '', status = '' }, value }) => [
        nameSeries(module, method, route, status),
        value,
      ]),
    );
  }

  async stop(): Promise<string> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const [code, signal] = await ended;
    return code === null ? String(signal) : String(code);
  }

  /** The log lines of the soak's requests, by request id. */
  async readLines(): Promise<Map<string, HostLine[]>> {
    const lines = new Map<string, HostLine[]>();
    for await (const text of createInterface({ input: createReadStream(this.#log) })) {
      if (!text.includes('"msg":"request"')) continue;
      const line = JSON.parse(text) as HostLine & { request_id: string };
      if (!line.request_id.startsWith('soak-')) continue;
      const { module, route, method, status, attempts } = line;
      const ofRequest = lines.get(line.request_id) ?? [];
      ofRequest.push({ module, route, method, status, attempts });
      lines.set(line.request_id, ofRequest);
    }
    return lines;
  }
}

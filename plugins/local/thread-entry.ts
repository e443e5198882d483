import { inspect } from 'node:util';
import { type MessagePort, parentPort, type Transferable, workerData } from 'node:worker_threads';
import type {
  CallContext,
  Invocation,
  Log,
  LogWrite,
  ProviderFailure,
  ProviderOperation,
} from '../../core/contract/index.js';
import { formatError } from '../shared/format-error.js';
import type { LocalModule } from './handler.js';
import { importInThread } from './import-module.js';
import { createLocalRunner } from './local-runner.js';
import type { LocalOutcome } from './outcome.js';
import { sendBytes } from './sent-bytes.js';
import { receiveFailure, sendFailure } from './sent-failure.js';
import { receiveOperation } from './sent-operation.js';
import type {
  HostMessage,
  SentInvocation,
  SentManifest,
  SentOutcome,
  ThreadMessage,
  ThreadStart,
} from './thread-messages.js';

/** Unacknowledged lines; more are dropped and counted, so that a loop cannot fill the memory of the host. */
const MAX_PENDING_LINES = 1_000;

/** The entry of a module's thread: imports the file and handles the messages of the host. */

// A separate port, because the module could also access `parentPort` and `workerData`.
parentPort?.once('message', (port: MessagePort) => void serve(port, workerData as ThreadStart));

async function serve(port: MessagePort, start: ThreadStart): Promise<void> {
  const post = (message: ThreadMessage, transfers: Transferable[] = []) =>
    port.postMessage(message, transfers);
  // Keeps the thread alive during a top-level `await`, which the host limits.
  port.ref();
  let module: LocalModule;
  try {
    module = await importInThread(start.name, start.path);
    if (start.configuration !== null) await module.configure?.(start.configuration);
  } catch (error) {
    post({ kind: 'rejected', message: formatError(error) });
    return;
  }
  const log = new ThreadLog(post);
  const runner = createLocalRunner(module, {
    log,
    ...(start.stateDir !== undefined && { stateDir: start.stateDir }),
  });
  const calls = new Map<number, ThreadCall>();

  const respond = async (call: ThreadCall) => {
    const { number } = call;
    calls.set(number, call);
    try {
      const outcome = await runner.run(call);
      if (call.isAborted) return;
      const transfers: Transferable[] = [];
      post({ kind: 'answer', call: number, outcome: sendOutcome(outcome, transfers) }, transfers);
    } catch (error) {
      // The host has dropped an aborted call.
      if (!call.isAborted) post({ kind: 'failure', call: number, failure: sendFailure(error) });
    } finally {
      calls.delete(number);
    }
  };

  port.on('message', (message: HostMessage) => {
    switch (message.kind) {
      case 'call':
        // Never rejects.
        void respond(new ThreadCall(message.call, message.invocation));
        return;
      case 'abort':
        post({ kind: 'alive' });
        calls.get(message.call)?.abort(receiveFailure(message.failure));
        return;
      case 'logged':
        log.acknowledge(message.lines);
        return;
      case 'close':
        void close(module).then((error) => post({ kind: 'closed', error }));
    }
  });
  post({ kind: 'ready', manifest: readManifest(runner.readManifest) });
}

function sendOutcome(
  { status, headers, body }: LocalOutcome,
  transfers: Transferable[],
): SentOutcome {
  return { status, headers, body: body === null ? null : sendBytes(body, transfers) };
}

function readManifest(read: () => Uint8Array): SentManifest {
  try {
    return { value: read() };
  } catch (error) {
    return { failure: sendFailure(error) };
  }
}

async function close(module: LocalModule): Promise<string | null> {
  try {
    await module.close?.();
    return null;
  } catch (error) {
    return formatError(error);
  } finally {
    // The host ends the thread next, which would lose buffered output.
    await Promise.all([flush(process.stdout), flush(process.stderr)]);
  }
}

function flush(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

/** A call in the thread. Its signal is created on access, which most handlers never do. */
class ThreadCall implements Invocation {
  readonly number: number;
  readonly id: string;
  readonly operation: ProviderOperation;
  readonly headers: Readonly<Record<string, string>>;
  readonly context: CallContext;
  readonly maxResponseBytes: number;
  #controller: AbortController | null = null;
  #reason: ProviderFailure | null = null;

  constructor(number: number, { id, operation, headers, context, ...rest }: SentInvocation) {
    this.number = number;
    this.id = id;
    this.operation = receiveOperation(operation);
    this.headers = headers;
    this.context = context;
    this.maxResponseBytes = rest.maxResponseBytes;
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#reason !== null;
  }

  abort(reason: ProviderFailure): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

type Post = (message: ThreadMessage) => void;

/** `context.log` of a module in a thread; sends each line to the host. */
class ThreadLog implements Log {
  readonly #post: Post;
  #pending = 0;
  #dropped = 0;

  readonly debug: LogWrite = (fields, message) => this.#send('debug', fields, message);
  readonly info: LogWrite = (fields, message) => this.#send('info', fields, message);
  readonly warn: LogWrite = (fields, message) => this.#send('warn', fields, message);
  readonly error: LogWrite = (fields, message) => this.#send('error', fields, message);

  constructor(post: Post) {
    this.#post = post;
  }

  /** The host has written these lines. */
  acknowledge(lines: number): void {
    this.#pending -= lines;
    if (this.#dropped === 0) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.warn({ dropped }, 'logged too much: lines dropped');
  }

  #send(level: keyof Log, ...written: Parameters<LogWrite>): void {
    const [fields, message] = readWritten(...written);
    if (this.#pending >= MAX_PENDING_LINES) {
      this.#dropped += 1;
      return;
    }
    this.#pending += 1;
    try {
      this.#post({ kind: 'log', level, fields, message });
    } catch {
      // Some values, such as functions and promises, cannot be sent.
      this.#post({ kind: 'log', level, fields: { fields: inspect(fields) }, message });
    }
  }
}

/** A module in JavaScript may pass a text alone, as to other loggers, or fields alone. */
function readWritten(written: unknown, text: unknown = ''): Parameters<LogWrite> {
  if (typeof written !== 'object' || written === null) return [{}, String(written ?? text)];
  return [written as Parameters<LogWrite>[0], String(text)];
}

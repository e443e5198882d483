/** The entry of a module's thread: imports the file and handles the messages of the host. */
import { type MessagePort, parentPort, type Transferable, workerData } from 'node:worker_threads';
import { formatError } from '../shared/format-error.js';
import type { LocalModule } from './handler.js';
import { importInThread } from './import-module.js';
import { createLocalRunner } from './local-runner.js';
import type { LocalOutcome } from './outcome.js';
import { sendBytes } from './sent-bytes.js';
import { receiveFailure, sendFailure } from './sent-failure.js';
import { ThreadCall } from './thread-call.js';
import { ThreadLog } from './thread-log.js';
import type {
  HostMessage,
  SentManifest,
  SentOutcome,
  ThreadMessage,
  ThreadStart,
} from './thread-messages.js';

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

function readManifest(read: () => unknown): SentManifest {
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
